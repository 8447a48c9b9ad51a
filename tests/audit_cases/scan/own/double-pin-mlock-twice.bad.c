/* Wrong: the buffer is locked once by itself and once more; one unlock ends both locks. */
#include <stddef.h>
#include <sys/mman.h>

int prepare(void *buffer, size_t n, int strict)
{
    if (mlock(buffer, n) != 0)
        return -1;
    if (strict && mlock(buffer, n) != 0) { /* pin-expect: double-pin */
        munlock(buffer, n);
        return -1;
    }
    munlock(buffer, n);
    return 0;
}
