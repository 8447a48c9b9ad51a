// Right: the destructor releases what start() pinned.
#include <cuda_runtime.h>

#include <cstddef>

class Recorder {
public:
    Recorder() = default;
    ~Recorder()
    {
        if (stream_)
            cudaStreamDestroy(stream_);
        if (ring_)
            cudaFreeHost(ring_);
    }
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    bool start(std::size_t bytes) noexcept
    {
        if (ring_)
            return true;
        if (cudaStreamCreate(&stream_) != cudaSuccess)
            return false;
        return cudaHostAlloc(&ring_, bytes, cudaHostAllocDefault) == cudaSuccess;
    }

private:
    cudaStream_t stream_ = nullptr;
    void* ring_ = nullptr;
};
