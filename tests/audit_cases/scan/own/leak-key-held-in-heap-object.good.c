/* Right: the key's pages are unlocked before they are freed. */
#include <stdlib.h>
#include <sys/mman.h>

struct key {
    unsigned char *bytes;
    size_t n;
};

int random_fill(unsigned char *to, size_t n);

struct key *key_new(size_t n)
{
    struct key *k = calloc(1, sizeof(*k));
    if (!k)
        return NULL;
    k->bytes = malloc(n);
    if (!k->bytes) {
        free(k);
        return NULL;
    }
    if (mlock(k->bytes, n) != 0) {
        free(k->bytes);
        free(k);
        return NULL;
    }
    if (random_fill(k->bytes, n) != 0) {
        munlock(k->bytes, n);
        free(k->bytes);
        free(k);
        return NULL;
    }
    k->n = n;
    return k;
}
