// Wrong: the next batch is written into the block while the copy of the last one is only queued.
#include <cuda_runtime.h>

#include <cstddef>

bool train(float* device, const float* values, std::size_t batch, std::size_t batches, cudaStream_t stream)
{
    float* block = nullptr;
    if (cudaHostAlloc((void**)&block, batch * sizeof(float), cudaHostAllocDefault) != cudaSuccess)
        return false;
    for (std::size_t b = 0; b < batches; ++b) {
        block[0] = values[b];  // pin-expect: reuse-in-flight
        cudaMemcpyAsync(device + b * batch, block, batch * sizeof(float), cudaMemcpyHostToDevice, stream);
    }
    cudaStreamSynchronize(stream);
    cudaFreeHost(block);
    return true;
}
