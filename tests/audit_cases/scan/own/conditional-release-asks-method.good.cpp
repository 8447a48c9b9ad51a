// Right: the destructor asks a method that looks at the pointer, and another that looks at the flag of the pin.
#include <cuda_runtime.h>

#include <cstddef>

class Window {
public:
    Window() = default;
    Window(const Window&) = delete;
    Window& operator=(const Window&) = delete;
    ~Window()
    {
        if (valid())
            cudaFreeHost(front_);
        if (has_back())
            cudaFreeHost(back_);
    }

    bool open(std::size_t n) noexcept
    {
        if (valid())
            return true;
        if (cudaMallocHost(&front_, n) != cudaSuccess)
            return false;
        with_back_ = cudaMallocHost(&back_, n) == cudaSuccess;
        return true;
    }

    bool valid() const noexcept { return front_ != nullptr; }
    bool has_back() const noexcept { return with_back_; }

private:
    void* front_ = nullptr;
    void* back_ = nullptr;
    bool with_back_ = false;
};
