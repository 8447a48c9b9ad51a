// Wrong: the second half is copied over the first one, whose transfer was only queued.
#include <cuda_runtime.h>

#include <cstddef>
#include <cstring>

bool send_halves(char* device, const char* data, std::size_t half, cudaStream_t stream)
{
    char* block = nullptr;
    if (cudaMallocHost((void**)&block, half) != cudaSuccess)
        return false;
    std::memcpy(block, data, half);
    cudaMemcpyAsync(device, block, half, cudaMemcpyHostToDevice, stream);
    std::memcpy(block, data + half, half);  // pin-expect: reuse-in-flight
    cudaMemcpyAsync(device + half, block, half, cudaMemcpyHostToDevice, stream);
    cudaStreamSynchronize(stream);
    cudaFreeHost(block);
    return true;
}
