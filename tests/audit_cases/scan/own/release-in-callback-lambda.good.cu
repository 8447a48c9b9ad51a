// Right: the lambda that the stream calls only sets a mark; the host releases the block.
#include <cuda_runtime.h>

#include <atomic>
#include <cstddef>

static std::atomic<bool> sent{false};

bool send(void* device, std::size_t n, cudaStream_t stream)
{
    void* host = nullptr;
    if (cudaMallocHost(&host, n) != cudaSuccess)
        return false;
    const bool ok = cudaMemcpyAsync(device, host, n, cudaMemcpyHostToDevice, stream) == cudaSuccess &&
                    cudaLaunchHostFunc(stream, [](void*) { sent.store(true); }, nullptr) == cudaSuccess;
    cudaStreamSynchronize(stream);
    cudaFreeHost(host);
    return ok;
}
