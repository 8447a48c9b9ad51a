// Right: the staging block is released before the launch is looked at.
#include <cuda_runtime.h>

__global__ void scale(float* v, int n, float by)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        v[i] *= by;
}

bool scaled(float* device, const float* values, int n, float by)
{
    float* staging = nullptr;
    if (cudaHostAlloc((void**)&staging, n * sizeof(float), cudaHostAllocDefault) != cudaSuccess)
        return false;
    for (int i = 0; i < n; ++i)
        staging[i] = values[i];
    const bool copied = cudaMemcpy(device, staging, n * sizeof(float), cudaMemcpyHostToDevice) == cudaSuccess;
    cudaFreeHost(staging);
    if (!copied)
        return false;
    scale<<<(n + 127) / 128, 128>>>(device, n, by);
    return cudaGetLastError() == cudaSuccess;
}
