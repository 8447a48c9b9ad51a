// Right: a key can be moved, which leaves the other one empty, and not be copied.
#include <sys/mman.h>

#include <cstddef>
#include <utility>

class Key {
public:
    Key(unsigned char* bytes, std::size_t n) : bytes_(bytes), size_(n)
    {
        locked_ = mlock(bytes_, size_) == 0;
    }
    Key(Key&& other) noexcept
        : bytes_(other.bytes_), size_(other.size_), locked_(std::exchange(other.locked_, false))
    {
    }
    Key& operator=(Key&&) = delete;
    ~Key()
    {
        if (locked_)
            munlock(bytes_, size_);
    }

    const unsigned char* bytes() const { return bytes_; }

private:
    unsigned char* bytes_;
    std::size_t size_;
    bool locked_ = false;
};
