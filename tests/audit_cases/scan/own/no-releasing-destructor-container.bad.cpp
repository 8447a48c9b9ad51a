// Wrong: the constructor pins every lane of a vector, and the destructor forgets them.
#include <cuda_runtime.h>

#include <cstddef>
#include <vector>

class Lanes {
public:
    Lanes(std::size_t count, std::size_t bytes) : lanes_(count, nullptr)
    {
        for (std::size_t i = 0; i < lanes_.size(); ++i) {
            if (cudaMallocHost(&lanes_[i], bytes) != cudaSuccess)  // pin-expect: no-releasing-destructor
                lanes_[i] = nullptr;
        }
        cudaStreamCreate(&stream_);
    }
    ~Lanes() { cudaStreamDestroy(stream_); }
    Lanes(const Lanes&) = delete;
    Lanes& operator=(const Lanes&) = delete;

private:
    std::vector<void*> lanes_;
    cudaStream_t stream_ = nullptr;
};
