// Right: the function catches what may be thrown, and releases the block in any case.
#include <cuda_runtime.h>

#include <cstddef>
#include <exception>
#include <string>

std::string name_of(int device);

bool announce(const void* memory, std::size_t n)
{
    void* host = nullptr;
    if (cudaMallocHost(&host, n) != cudaSuccess)
        return false;
    bool ok = false;
    try {
        ok = !name_of(0).empty() && cudaMemcpy(host, memory, n, cudaMemcpyDeviceToHost) == cudaSuccess;
    } catch (const std::exception&) {
        ok = false;
    }
    cudaFreeHost(host);
    return ok;
}
