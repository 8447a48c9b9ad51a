// Wrong: a mapping that is locked by its flag is a raw pin like any other.
#include <sys/mman.h>

#include <cstddef>

void* arena(std::size_t n)
{
    void* const memory = mmap(nullptr, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_LOCKED, -1, 0);  // pin-expect: raw-pin
    return memory == MAP_FAILED ? nullptr : memory;
}
