// Right: the answer is looked at before the memory is written.
#include <cuda_runtime.h>

#include <cstddef>
#include <cstring>

void mark(std::size_t n)
{
    char* text = nullptr;
    const cudaError_t answer = cudaHostAlloc((void**)&text, n, cudaHostAllocDefault);
    if (answer != cudaSuccess)
        return;
    std::memset(text, ' ', n);
    cudaFreeHost(text);
}
