// Wrong: the text may throw while it grows, and the locked key is held by a plain pointer.
#include <sys/mman.h>

#include <cstddef>
#include <string>

void describe(unsigned char* key, std::size_t n, std::string& out)
{
    if (mlock(key, n) != 0)  // pin-expect: leak-on-throw
        return;
    for (std::size_t i = 0; i < n; ++i)
        out.push_back("0123456789abcdef"[key[i] & 15]);
    munlock(key, n);
}
