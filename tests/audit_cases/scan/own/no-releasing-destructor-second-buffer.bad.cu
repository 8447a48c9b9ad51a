// Wrong: of the two blocks that the class pins, its destructor releases one.
#include <cuda_runtime.h>

#include <cstddef>

class DoubleBuffer {
public:
    explicit DoubleBuffer(std::size_t n)
    {
        if (cudaMallocHost(&front_, n) != cudaSuccess)
            front_ = nullptr;
        if (cudaMallocHost(&back_, n) != cudaSuccess)  // pin-expect: no-releasing-destructor
            back_ = nullptr;
    }
    DoubleBuffer(const DoubleBuffer&) = delete;
    DoubleBuffer& operator=(const DoubleBuffer&) = delete;
    ~DoubleBuffer() { cudaFreeHost(front_); }

private:
    void* front_ = nullptr;
    void* back_ = nullptr;
};
