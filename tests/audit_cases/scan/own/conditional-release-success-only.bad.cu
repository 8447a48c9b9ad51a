// Wrong: the scratch is released only when the sum came back; after a failed copy it stays.
#include <cuda_runtime.h>

bool read_sum(const double* device_sum, double* out)
{
    double* scratch = nullptr;
    if (cudaMallocHost((void**)&scratch, sizeof(double)) != cudaSuccess)
        return false;
    const cudaError_t copied = cudaMemcpy(scratch, device_sum, sizeof(double), cudaMemcpyDeviceToHost);
    if (copied == cudaSuccess) {
        *out = *scratch;
        cudaFreeHost(scratch);  // pin-expect: conditional-release
    }
    return copied == cudaSuccess;
}
