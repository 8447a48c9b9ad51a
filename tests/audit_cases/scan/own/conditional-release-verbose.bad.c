/* Wrong: the block is released only where the channel was to talk about it. */
#include <cuda_runtime.h>
#include <stddef.h>

struct channel {
    void *block;
    int verbose;
};

int channel_open(struct channel *c, size_t n)
{
    c->block = NULL;
    return cudaMallocHost(&c->block, n) == cudaSuccess ? 0 : -1;
}

void channel_destroy(struct channel *c)
{
    if (c->verbose)
        cudaFreeHost(c->block); /* pin-expect: conditional-release */
    c->block = NULL;
}
