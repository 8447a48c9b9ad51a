/* Right: the locked mapping is removed on both ways out. */
#define _GNU_SOURCE
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

int copy_secret(int fd, unsigned char *out, size_t n)
{
    int rc = -2;
    void *map = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_LOCKED, fd, 0);
    if (map == MAP_FAILED)
        return -1;
    if (*(const unsigned char *)map >= n) {
        memcpy(out, (const unsigned char *)map + 1, n);
        rc = 0;
    }
    munmap(map, 4096);
    return rc;
}
