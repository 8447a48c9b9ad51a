// Wrong: stop() clears the flag that the destructor asks before it releases the ring.
#include <cuda_runtime.h>

#include <cstddef>

class Sampler {
public:
    explicit Sampler(std::size_t n) noexcept
    {
        running_ = cudaMallocHost(&ring_, n) == cudaSuccess;
    }
    Sampler(const Sampler&) = delete;
    Sampler& operator=(const Sampler&) = delete;

    ~Sampler()
    {
        if (running_)
            cudaFreeHost(ring_);  // pin-expect: conditional-release
    }

    void stop() noexcept { running_ = false; }

private:
    bool running_ = false;
    void* ring_ = nullptr;
};
