/* Right: the password is compared before the key is locked. */
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

int unlock_store(unsigned char *key, size_t n, const char *password, const char *expected)
{
    if (strcmp(password, expected) != 0)
        return -2;
    if (mlock(key, n) != 0)
        return -1;
    memset(key, 0, n);
    munlock(key, n);
    return 0;
}
