// Right: the text has its room before the key is locked, and nothing throws in between.
#include <sys/mman.h>

#include <cstddef>
#include <string>

void describe(unsigned char* key, std::size_t n, std::string& out)
{
    out.assign(n, ' ');
    if (mlock(key, n) != 0)
        return;
    for (std::size_t i = 0; i < n; ++i)
        out[i] = "0123456789abcdef"[key[i] & 15];
    munlock(key, n);
}
