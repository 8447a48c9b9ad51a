// Wrong: the block is released right after the last piece was queued.
#include <cuda_runtime.h>

#include <cstddef>

bool push(char* device, std::size_t pieces, std::size_t n, cudaStream_t stream)
{
    char* block = nullptr;
    if (cudaMallocHost((void**)&block, pieces * n) != cudaSuccess)
        return false;
    for (std::size_t i = 0; i < pieces; ++i)
        cudaMemcpyAsync(device + i * n, block + i * n, n, cudaMemcpyHostToDevice, stream);
    cudaFreeHost(block);  // pin-expect: release-in-flight
    return true;
}
