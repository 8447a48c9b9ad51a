// Wrong: the class locks its pages when asked to, and its destructor frees them locked.
#include <sys/mman.h>

#include <cstddef>

class Vault {
public:
    Vault(char* pages, std::size_t n) : pages_(pages), size_(n) {}
    Vault(const Vault&) = delete;
    Vault& operator=(const Vault&) = delete;
    ~Vault() { size_ = 0; }

    bool lock() { return mlock(pages_, size_) == 0; }  // pin-expect: no-releasing-destructor

private:
    char* pages_;
    std::size_t size_;
};
