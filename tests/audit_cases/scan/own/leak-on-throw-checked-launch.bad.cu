// Wrong: the check throws an exception of its own when the copy fails, past the release of the block.
#include <cuda_runtime.h>

#include <cstddef>
#include <stdexcept>

void check(cudaError_t code);

void download(float* out, const float* device, std::size_t n)
{
    float* block = nullptr;
    if (cudaMallocHost((void**)&block, n * sizeof(float)) != cudaSuccess)  // pin-expect: leak-on-throw
        throw std::runtime_error("no pinned memory");
    check(cudaMemcpy(block, device, n * sizeof(float), cudaMemcpyDeviceToHost));
    for (std::size_t i = 0; i < n; ++i)
        out[i] = block[i];
    cudaFreeHost(block);
}
