// Wrong: the destructor releases only what the configuration says is pinned; offload() pins whatever it says.
#include <cuda_runtime.h>

#include <cstddef>

struct Config {
    bool cpu_offload = false;
    bool pin_memory = false;
};

class Optimizer {
public:
    explicit Optimizer(const Config& config) noexcept : config_(config) {}
    Optimizer(const Optimizer&) = delete;
    Optimizer& operator=(const Optimizer&) = delete;

    ~Optimizer()
    {
        if (config_.cpu_offload && config_.pin_memory)
            cudaFreeHost(state_);  // pin-expect: conditional-release
    }

    bool offload(const void* device, std::size_t n) noexcept
    {
        if (!state_ && cudaMallocHost(&state_, n) != cudaSuccess) {
            state_ = nullptr;
            return false;
        }
        return cudaMemcpy(state_, device, n, cudaMemcpyDeviceToHost) == cudaSuccess;
    }

private:
    const Config config_;
    void* state_ = nullptr;
};
