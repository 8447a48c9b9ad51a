// Right: the size is checked before anything is pinned.
#include <cuda_runtime.h>

#include <cstddef>
#include <new>
#include <stdexcept>

void upload(const void* device, std::size_t n, std::size_t room)
{
    if (n > room)
        throw std::length_error("no room on the device");
    void* host = nullptr;
    if (cudaHostAlloc(&host, n, cudaHostAllocDefault) != cudaSuccess)
        throw std::bad_alloc();
    cudaMemcpy(host, device, n, cudaMemcpyDeviceToHost);
    cudaFreeHost(host);
}
