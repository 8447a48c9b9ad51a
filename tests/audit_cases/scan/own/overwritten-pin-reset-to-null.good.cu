// Right: the pointer is set to null after the block is released.
#include <cuda_runtime.h>

#include <cstddef>

bool probe(std::size_t n)
{
    void* block = nullptr;
    if (cudaHostAlloc(&block, n, cudaHostAllocPortable) != cudaSuccess)
        return false;
    cudaFreeHost(block);
    block = nullptr;
    return true;
}
