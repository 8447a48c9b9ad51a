/* Wrong: the locked mapping stays when the file turns out to be shorter than its header says. */
#define _GNU_SOURCE
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

int copy_secret(int fd, unsigned char *out, size_t n)
{
    void *map = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_LOCKED, fd, 0); /* pin-expect: leak */
    if (map == MAP_FAILED)
        return -1;
    if (*(const unsigned char *)map < n)
        return -2;
    memcpy(out, (const unsigned char *)map + 1, n);
    munmap(map, 4096);
    return 0;
}
