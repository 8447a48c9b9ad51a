// Right: each block has a pointer of its own.
#include <cuda_runtime.h>

#include <cstddef>

bool twice(std::size_t n)
{
    void* small = nullptr;
    void* big = nullptr;
    if (cudaMallocHost(&small, n) != cudaSuccess)
        return false;
    if (cudaMallocHost(&big, 2 * n) != cudaSuccess) {
        cudaFreeHost(small);
        return false;
    }
    cudaFreeHost(small);
    cudaFreeHost(big);
    return true;
}
