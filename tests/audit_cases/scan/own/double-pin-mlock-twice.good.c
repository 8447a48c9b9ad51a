/* Right: the buffer is locked once. */
#include <stddef.h>
#include <sys/mman.h>

int prepare(void *buffer, size_t n, int strict)
{
    if (mlock(buffer, n) != 0)
        return -1;
    if (strict)
        *(volatile char *)buffer = 0;
    munlock(buffer, n);
    return 0;
}
