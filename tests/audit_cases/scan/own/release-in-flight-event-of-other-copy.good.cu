// Right: the event is recorded behind the copy.
#include <cuda_runtime.h>

#include <cstddef>

bool pull(const float* device, std::size_t n, cudaStream_t stream, cudaEvent_t event)
{
    float* block = nullptr;
    if (cudaMallocHost((void**)&block, n * sizeof(float)) != cudaSuccess)
        return false;
    const bool queued =
        cudaMemcpyAsync(block, device, n * sizeof(float), cudaMemcpyDeviceToHost, stream) == cudaSuccess;
    cudaEventRecord(event, stream);
    cudaEventSynchronize(event);
    cudaFreeHost(block);
    return queued;
}
