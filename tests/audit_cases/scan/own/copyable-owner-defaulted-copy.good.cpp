// Right: the page can be moved, and so not copied.
#include <cuda_runtime.h>

#include <cstddef>
#include <utility>

class Page {
public:
    explicit Page(std::size_t n)
    {
        if (cudaMallocHost(&memory_, n) != cudaSuccess)
            memory_ = nullptr;
    }
    Page(Page&& other) noexcept : memory_(std::exchange(other.memory_, nullptr)) {}
    ~Page() { cudaFreeHost(memory_); }

private:
    void* memory_ = nullptr;
};
