// Wrong: the pointer is pinned into twice, and only the second block is released.
#include <cuda_runtime.h>

#include <cstddef>

bool twice(std::size_t n)
{
    void* block = nullptr;
    if (cudaMallocHost(&block, n) != cudaSuccess)  // pin-expect: overwritten-pin
        return false;
    if (cudaMallocHost(&block, 2 * n) != cudaSuccess) {
        cudaFreeHost(block);
        return false;
    }
    cudaFreeHost(block);
    return true;
}
