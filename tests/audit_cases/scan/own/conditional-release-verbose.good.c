/* Right: whatever is printed, the block is released. */
#include <cuda_runtime.h>
#include <stddef.h>
#include <stdio.h>

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
        puts("closing");
    cudaFreeHost(c->block);
    c->block = NULL;
}
