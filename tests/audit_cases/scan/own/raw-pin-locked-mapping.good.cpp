// Right: a mapping without the flag pins nothing.
#include <sys/mman.h>

#include <cstddef>

void* arena(std::size_t n)
{
    void* const memory = mmap(nullptr, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? nullptr : memory;
}
