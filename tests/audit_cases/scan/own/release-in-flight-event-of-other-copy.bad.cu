// Wrong: the event that is waited for was recorded before the copy.
#include <cuda_runtime.h>

#include <cstddef>

bool pull(const float* device, std::size_t n, cudaStream_t stream, cudaEvent_t event)
{
    float* block = nullptr;
    if (cudaMallocHost((void**)&block, n * sizeof(float)) != cudaSuccess)
        return false;
    cudaEventRecord(event, stream);
    const bool queued =
        cudaMemcpyAsync(block, device, n * sizeof(float), cudaMemcpyDeviceToHost, stream) == cudaSuccess;
    cudaEventSynchronize(event);
    cudaFreeHost(block);  // pin-expect: release-in-flight
    return queued;
}
