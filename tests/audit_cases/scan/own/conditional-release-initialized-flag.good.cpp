// Right: the flag is set where the memory is pinned and asked where it is released.
#include <cuda_runtime.h>

#include <cstddef>
#include <stdexcept>

class Engine {
public:
    Engine() = default;
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;
    ~Engine() { shutdown(); }

    void init(std::size_t n)
    {
        if (initialized_)
            return;
        allocate(n);
        initialized_ = true;
    }

    void shutdown() noexcept
    {
        if (!initialized_)
            return;
        cudaFreeHost(input_);
        cudaFreeHost(output_);
        initialized_ = false;
    }

private:
    void allocate(std::size_t n)
    {
        if (cudaMallocHost((void**)&input_, n) != cudaSuccess)
            throw std::runtime_error("input");
        if (cudaMallocHost((void**)&output_, n) != cudaSuccess) {
            cudaFreeHost(input_);
            throw std::runtime_error("output");
        }
    }

    bool initialized_ = false;
    float* input_ = nullptr;
    float* output_ = nullptr;
};
