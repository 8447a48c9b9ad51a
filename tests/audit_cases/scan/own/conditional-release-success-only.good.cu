// Right: the scratch is released whether the sum came back or not.
#include <cuda_runtime.h>

bool read_sum(const double* device_sum, double* out)
{
    double* scratch = nullptr;
    if (cudaMallocHost((void**)&scratch, sizeof(double)) != cudaSuccess)
        return false;
    const cudaError_t copied = cudaMemcpy(scratch, device_sum, sizeof(double), cudaMemcpyDeviceToHost);
    if (copied == cudaSuccess)
        *out = *scratch;
    cudaFreeHost(scratch);
    return copied == cudaSuccess;
}
