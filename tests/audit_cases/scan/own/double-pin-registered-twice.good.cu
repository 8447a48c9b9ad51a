// Right: one registration serves both streams.
#include <cuda_runtime.h>

#include <cstddef>

bool attach(void* frame, std::size_t n)
{
    if (cudaHostRegister(frame, n, cudaHostRegisterPortable) != cudaSuccess)
        return false;
    cudaHostUnregister(frame);
    return true;
}
