// Wrong: the size check throws after the block was pinned, and a plain pointer holds the block.
#include <cuda_runtime.h>

#include <cstddef>
#include <new>
#include <stdexcept>

void upload(const void* device, std::size_t n, std::size_t room)
{
    void* host = nullptr;
    if (cudaHostAlloc(&host, n, cudaHostAllocDefault) != cudaSuccess)  // pin-expect: leak
        throw std::bad_alloc();
    if (n > room)
        throw std::length_error("no room on the device");
    cudaMemcpy(host, device, n, cudaMemcpyDeviceToHost);
    cudaFreeHost(host);
}
