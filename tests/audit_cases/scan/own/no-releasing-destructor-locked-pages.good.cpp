// Right: the destructor unlocks what may be locked; unlocking what is not does no harm.
#include <sys/mman.h>

#include <cstddef>

class Vault {
public:
    Vault(char* pages, std::size_t n) : pages_(pages), size_(n) {}
    Vault(const Vault&) = delete;
    Vault& operator=(const Vault&) = delete;
    ~Vault() { munlock(pages_, size_); }

    bool lock() { return mlock(pages_, size_) == 0; }

private:
    char* pages_;
    std::size_t size_;
};
