// Right: the destructor returns early only where there is no memory.
#include <sys/mman.h>

#include <cstddef>

class Ring {
public:
    Ring(void* memory, std::size_t n) : memory_(memory), size_(n)
    {
        if (mlock(memory_, size_) != 0)
            memory_ = nullptr;
    }
    Ring(const Ring&) = delete;
    Ring& operator=(const Ring&) = delete;
    ~Ring()
    {
        if (!memory_)
            return;
        munlock(memory_, size_);
    }

    void run() { running_ = true; }

private:
    void* memory_;
    std::size_t size_;
    bool running_ = false;
};
