/* Wrong: the key is freed with its pages still locked when the random source fails. */
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
        free(k->bytes); /* pin-expect: freed-while-registered */
        free(k);
        return NULL;
    }
    k->n = n;
    return k;
}
