// Right: the block has an owner before anything may throw.
#include <cuda_runtime.h>

#include <cstddef>
#include <memory>
#include <stdexcept>

void check(cudaError_t code);

struct Release {
    void operator()(float* p) const { cudaFreeHost(p); }
};

void download(float* out, const float* device, std::size_t n)
{
    float* raw = nullptr;
    if (cudaMallocHost((void**)&raw, n * sizeof(float)) != cudaSuccess)
        throw std::runtime_error("no pinned memory");
    const std::unique_ptr<float, Release> block(raw);
    check(cudaMemcpy(block.get(), device, n * sizeof(float), cudaMemcpyDeviceToHost));
    for (std::size_t i = 0; i < n; ++i)
        out[i] = block.get()[i];
}
