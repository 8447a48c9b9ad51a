/* Wrong: a program that has handles for locked memory locks a key by itself. */
#include <stddef.h>
#include <sys/mman.h>

int with_key(unsigned char *key, size_t n)
{
    if (mlock(key, n) != 0) /* pin-expect: raw-pin */
        return -1;
    munlock(key, n);
    return 0;
}
