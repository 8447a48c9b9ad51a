// Right: the destructor releases both blocks.
#include <cuda_runtime.h>

#include <cstddef>

class DoubleBuffer {
public:
    explicit DoubleBuffer(std::size_t n)
    {
        if (cudaMallocHost(&front_, n) != cudaSuccess)
            front_ = nullptr;
        if (cudaMallocHost(&back_, n) != cudaSuccess)
            back_ = nullptr;
    }
    DoubleBuffer(const DoubleBuffer&) = delete;
    DoubleBuffer& operator=(const DoubleBuffer&) = delete;
    ~DoubleBuffer()
    {
        cudaFreeHost(front_);
        cudaFreeHost(back_);
    }

private:
    void* front_ = nullptr;
    void* back_ = nullptr;
};
