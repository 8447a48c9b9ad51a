/* Right: the key is only wiped here, and locked by whoever made it. */
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

int with_key(unsigned char *key, size_t n)
{
    memset(key, 0, n);
    return madvise(key, n, MADV_DONTDUMP);
}
