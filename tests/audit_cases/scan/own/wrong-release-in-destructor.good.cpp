// Right: page-locked memory goes back to where page-locked memory comes from.
#include <cuda_runtime.h>

#include <cstddef>

class Frames {
public:
    explicit Frames(std::size_t n)
    {
        if (cudaHostAlloc(&host_, n, cudaHostAllocDefault) != cudaSuccess)
            host_ = nullptr;
    }
    Frames(const Frames&) = delete;
    Frames& operator=(const Frames&) = delete;
    ~Frames() { cudaFreeHost(host_); }

private:
    void* host_ = nullptr;
};
