// Wrong: where the launch failed, the staging block is not released.
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
    if (cudaHostAlloc((void**)&staging, n * sizeof(float), cudaHostAllocDefault) != cudaSuccess)  // pin-expect: leak
        return false;
    for (int i = 0; i < n; ++i)
        staging[i] = values[i];
    if (cudaMemcpy(device, staging, n * sizeof(float), cudaMemcpyHostToDevice) == cudaSuccess) {
        scale<<<(n + 127) / 128, 128>>>(device, n, by);
        if (cudaGetLastError() != cudaSuccess)
            return false;
    }
    cudaFreeHost(staging);
    return true;
}
