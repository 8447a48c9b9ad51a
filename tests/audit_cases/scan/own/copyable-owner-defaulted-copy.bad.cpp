// Wrong: the copy is asked for by name, and both objects release the block.
#include <cuda_runtime.h>

#include <cstddef>

class Page {  // pin-expect: copyable-owner
public:
    explicit Page(std::size_t n)
    {
        if (cudaMallocHost(&memory_, n) != cudaSuccess)
            memory_ = nullptr;
    }
    Page(const Page&) = default;
    ~Page() { cudaFreeHost(memory_); }

private:
    void* memory_ = nullptr;
};
