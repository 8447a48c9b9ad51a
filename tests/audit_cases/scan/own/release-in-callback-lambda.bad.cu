// Wrong: the lambda that the stream calls releases the block, and no runtime call is allowed there.
#include <cuda_runtime.h>

#include <cstddef>

bool send(void* device, std::size_t n, cudaStream_t stream)
{
    void* host = nullptr;
    if (cudaMallocHost(&host, n) != cudaSuccess)
        return false;
    if (cudaMemcpyAsync(device, host, n, cudaMemcpyHostToDevice, stream) == cudaSuccess &&
        cudaLaunchHostFunc(stream, [](void* p) { cudaFreeHost(p); }, host) == cudaSuccess)  // pin-expect: release-in-callback
        return true;
    cudaStreamSynchronize(stream);
    cudaFreeHost(host);
    return false;
}
