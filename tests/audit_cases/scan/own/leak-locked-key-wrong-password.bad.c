/* Wrong: a wrong password leaves through a return that does not unlock the key. */
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

int unlock_store(unsigned char *key, size_t n, const char *password, const char *expected)
{
    if (mlock(key, n) != 0) /* pin-expect: leak */
        return -1;
    if (strcmp(password, expected) != 0)
        return -2;
    memset(key, 0, n);
    munlock(key, n);
    return 0;
}
