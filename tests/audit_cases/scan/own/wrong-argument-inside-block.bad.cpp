// Wrong: the header in front of the payload is skipped, and the payload's address is released.
#include <cuda_runtime.h>

#include <cstddef>

bool post(void* device, std::size_t n)
{
    char* block = nullptr;
    if (cudaHostAlloc((void**)&block, n + 64, cudaHostAllocDefault) != cudaSuccess)
        return false;
    char* payload = block + 64;
    const bool ok = cudaMemcpy(device, payload, n, cudaMemcpyHostToDevice) == cudaSuccess;
    cudaFreeHost(payload);  // pin-expect: wrong-argument
    return ok;
}
