// Right: the block is released once, at the end of both ways.
#include <cuda_runtime.h>

#include <cstddef>

__global__ void fill(float* out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 1.0f;
}

bool filled(float* device, int n)
{
    float* host = nullptr;
    bool good = true;
    if (cudaMallocHost((void**)&host, n * sizeof(float)) != cudaSuccess)
        return false;
    fill<<<(n + 255) / 256, 256>>>(device, n);
    if (cudaMemcpy(host, device, n * sizeof(float), cudaMemcpyDeviceToHost) != cudaSuccess)
        good = false;
    cudaFreeHost(host);
    return good;
}
