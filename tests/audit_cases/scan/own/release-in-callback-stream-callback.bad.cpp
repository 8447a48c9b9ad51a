// Wrong: the callback that the stream calls unregisters the frame, which no callback may.
#include <cuda_runtime.h>

#include <cstddef>

static void CUDART_CB sent(cudaStream_t, cudaError_t, void* frame)
{
    cudaHostUnregister(frame);  // pin-expect: release-in-callback
}

bool send(void* frame, void* device, std::size_t n, cudaStream_t stream)
{
    if (cudaHostRegister(frame, n, cudaHostRegisterDefault) != cudaSuccess)
        return false;
    if (cudaMemcpyAsync(device, frame, n, cudaMemcpyHostToDevice, stream) == cudaSuccess &&
        cudaStreamAddCallback(stream, sent, frame, 0) == cudaSuccess)
        return true;
    cudaStreamSynchronize(stream);
    cudaHostUnregister(frame);
    return false;
}
