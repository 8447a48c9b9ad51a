// Right: the base class cannot be copied, so the owner cannot either.
#include <cuda_runtime.h>

#include <cstddef>

class Unique {
protected:
    Unique() = default;
    ~Unique() = default;

public:
    Unique(const Unique&) = delete;
    Unique& operator=(const Unique&) = delete;
};

class Pool : Unique {
public:
    explicit Pool(std::size_t n)
    {
        if (cudaMallocHost(&base_, n) != cudaSuccess)
            base_ = nullptr;
    }
    ~Pool() { cudaFreeHost(base_); }

private:
    void* base_ = nullptr;
};
