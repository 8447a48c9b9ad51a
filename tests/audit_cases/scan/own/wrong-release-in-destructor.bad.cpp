// Wrong: the destructor gives page-locked memory back as if it were memory of the device.
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
    ~Frames() { cudaFree(host_); }  // pin-expect: wrong-release

private:
    void* host_ = nullptr;
};
