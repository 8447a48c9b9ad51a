// Right: the frame is unregistered by the caller once the stream is done.
#include <cuda_runtime.h>

#include <cstddef>

bool send(void* frame, void* device, std::size_t n, cudaStream_t stream)
{
    if (cudaHostRegister(frame, n, cudaHostRegisterDefault) != cudaSuccess)
        return false;
    const bool queued = cudaMemcpyAsync(device, frame, n, cudaMemcpyHostToDevice, stream) == cudaSuccess;
    cudaStreamSynchronize(stream);
    cudaHostUnregister(frame);
    return queued;
}
