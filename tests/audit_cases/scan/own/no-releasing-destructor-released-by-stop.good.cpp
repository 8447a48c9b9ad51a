// Right: the destructor calls stop(), which another method also calls; it releases through a helper that forgets.
#include <cuda_runtime.h>

#include <cstddef>

template <class T>
void drop(T*& p) noexcept
{
    if (p) {
        cudaFreeHost(p);
        p = nullptr;
    }
}

class Tap {
public:
    ~Tap() { stop(); }
    Tap() = default;
    Tap(const Tap&) = delete;
    Tap& operator=(const Tap&) = delete;

    bool start(std::size_t n) noexcept
    {
        stop();
        if (cudaMallocHost((void**)&left_, n) != cudaSuccess)
            return false;
        if (cudaMallocHost((void**)&right_, n) != cudaSuccess) {
            drop(left_);
            return false;
        }
        running_ = true;
        return true;
    }

    void stop() noexcept
    {
        running_ = false;
        drop(left_);
        drop(right_);
    }

private:
    bool running_ = false;
    float* left_ = nullptr;
    float* right_ = nullptr;
};
