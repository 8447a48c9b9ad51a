// Right: the stream that the copy was queued on is waited for.
#include <cuda_runtime.h>

#include <cstddef>

bool send(void* device, std::size_t n, cudaStream_t copies, cudaStream_t kernels)
{
    void* host = nullptr;
    if (cudaMallocHost(&host, n) != cudaSuccess)
        return false;
    const bool ok = cudaMemcpyAsync(device, host, n, cudaMemcpyHostToDevice, copies) == cudaSuccess;
    cudaStreamSynchronize(kernels);
    cudaStreamSynchronize(copies);
    cudaFreeHost(host);
    return ok;
}
