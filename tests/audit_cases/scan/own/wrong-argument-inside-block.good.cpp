// Right: the address of the block is released, not that of the payload in it.
#include <cuda_runtime.h>

#include <cstddef>

bool post(void* device, std::size_t n)
{
    char* block = nullptr;
    if (cudaHostAlloc((void**)&block, n + 64, cudaHostAllocDefault) != cudaSuccess)
        return false;
    char* payload = block + 64;
    const bool ok = cudaMemcpy(device, payload, n, cudaMemcpyHostToDevice) == cudaSuccess;
    cudaFreeHost(payload - 64);
    return ok;
}
