// Right: local objects pin in their constructor and release in their destructor, on every way out.
#include <cuda_runtime.h>

#include <cstddef>
#include <stdexcept>
#include <string>

class Block {
public:
    explicit Block(std::size_t n)
    {
        if (cudaMallocHost(&data_, n) != cudaSuccess)
            throw std::runtime_error("no pinned memory");
    }
    ~Block() { cudaFreeHost(data_); }
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;
    void* data() { return data_; }

private:
    void* data_ = nullptr;
};

std::string describe(int n);

int work(const void* device, std::size_t n)
{
    Block first(n);
    Block second(n);
    if (cudaMemcpy(first.data(), device, n, cudaMemcpyDeviceToHost) != cudaSuccess)
        throw std::runtime_error(describe(1));
    if (describe(2).empty())
        return 1;
    return 0;
}
