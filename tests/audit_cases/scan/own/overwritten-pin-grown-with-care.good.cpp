// Right: the bigger block is pinned into a pointer of its own before the smaller one is given up.
#include <cuda_runtime.h>

#include <cstddef>

class Staging {
public:
    Staging() = default;
    Staging(const Staging&) = delete;
    Staging& operator=(const Staging&) = delete;
    ~Staging()
    {
        if (data_)
            cudaFreeHost(data_);
    }

    bool ensure(std::size_t bytes)
    {
        if (bytes <= size_)
            return true;
        void* next = nullptr;
        if (cudaHostAlloc(&next, bytes, cudaHostAllocDefault) != cudaSuccess)
            return false;
        if (data_)
            cudaFreeHost(data_);
        data_ = next;
        size_ = bytes;
        return true;
    }

private:
    void* data_ = nullptr;
    std::size_t size_ = 0;
};
