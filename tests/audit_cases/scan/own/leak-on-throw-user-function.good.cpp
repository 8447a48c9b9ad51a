// Right: what may throw is called before the block is pinned.
#include <cuda_runtime.h>

#include <cstddef>
#include <string>

std::string name_of(int device);

bool announce(const void* memory, std::size_t n)
{
    const std::string name = name_of(0);
    void* host = nullptr;
    if (cudaMallocHost(&host, n) != cudaSuccess)
        return false;
    const bool ok = cudaMemcpy(host, memory, n, cudaMemcpyDeviceToHost) == cudaSuccess && !name.empty();
    cudaFreeHost(host);
    return ok;
}
