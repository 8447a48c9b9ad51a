// Wrong: the checksum is computed by a function that may throw while a plain pointer holds the block.
#include <cuda_runtime.h>

#include <cstddef>
#include <string>

std::string name_of(int device);

bool announce(const void* memory, std::size_t n)
{
    void* host = nullptr;
    if (cudaMallocHost(&host, n) != cudaSuccess)  // pin-expect: leak-on-throw
        return false;
    const std::string name = name_of(0);
    const bool ok = cudaMemcpy(host, memory, n, cudaMemcpyDeviceToHost) == cudaSuccess && !name.empty();
    cudaFreeHost(host);
    return ok;
}
