// Right: a view of foreign memory does not release it; the object knows which kind it is.
#include <cuda_runtime.h>

#include <cstddef>

class Span {
public:
    explicit Span(std::size_t n) : own_(true)
    {
        if (cudaHostAlloc(&data_, n, cudaHostAllocDefault) != cudaSuccess)
            data_ = nullptr;
    }
    explicit Span(void* data) : own_(false), data_(data) {}
    Span(const Span&) = delete;
    Span& operator=(const Span&) = delete;
    ~Span()
    {
        if (own_)
            cudaFreeHost(data_);
    }

private:
    bool own_;
    void* data_ = nullptr;
};
