// Right: the stream is waited for before the block is released.
#include <cuda_runtime.h>

#include <cstddef>

bool push(char* device, std::size_t pieces, std::size_t n, cudaStream_t stream)
{
    char* block = nullptr;
    if (cudaMallocHost((void**)&block, pieces * n) != cudaSuccess)
        return false;
    for (std::size_t i = 0; i < pieces; ++i)
        cudaMemcpyAsync(device + i * n, block + i * n, n, cudaMemcpyHostToDevice, stream);
    const bool sent = cudaStreamSynchronize(stream) == cudaSuccess;
    cudaFreeHost(block);
    return sent;
}
