// Right: a plain structure with functions beside it; whoever calls alloc() calls free_all().
#include <cuda_runtime.h>

#include <cstddef>

struct Buffers {
    float* host = nullptr;
    float* device = nullptr;

    bool alloc(std::size_t n)
    {
        return cudaMallocHost((void**)&host, n) == cudaSuccess && cudaMalloc((void**)&device, n) == cudaSuccess;
    }

    void free_all()
    {
        cudaFreeHost(host);
        cudaFree(device);
    }
};
