// Wrong: the pointer is set to null before the block is released.
#include <cuda_runtime.h>

#include <cstddef>

bool probe(std::size_t n)
{
    void* block = nullptr;
    if (cudaHostAlloc(&block, n, cudaHostAllocPortable) != cudaSuccess)  // pin-expect: overwritten-pin
        return false;
    block = nullptr;
    cudaFreeHost(block);
    return true;
}
