// Right: stop() clears a flag of its own; the destructor asks the pointer.
#include <cuda_runtime.h>

#include <cstddef>

class Sampler {
public:
    explicit Sampler(std::size_t n) noexcept
    {
        if (cudaMallocHost(&ring_, n) != cudaSuccess)
            ring_ = nullptr;
        running_ = ring_ != nullptr;
    }
    Sampler(const Sampler&) = delete;
    Sampler& operator=(const Sampler&) = delete;

    ~Sampler()
    {
        if (ring_)
            cudaFreeHost(ring_);
    }

    void stop() noexcept { running_ = false; }

private:
    bool running_ = false;
    void* ring_ = nullptr;
};
