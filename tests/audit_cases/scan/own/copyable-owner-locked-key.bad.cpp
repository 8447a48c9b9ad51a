// Wrong: a copied key shares its pages, and the first of the two to go unlocks them.
#include <sys/mman.h>

#include <cstddef>

class Key {  // pin-expect: copyable-owner
public:
    Key(unsigned char* bytes, std::size_t n) : bytes_(bytes), size_(n)
    {
        locked_ = mlock(bytes_, size_) == 0;
    }
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
