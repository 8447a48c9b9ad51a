/* Wrong: the error path falls through both labels, and the first has released the block already. */
#include <cuda_runtime.h>
#include <stddef.h>

int copy_in(void *device, const void *source, size_t n)
{
    void *block = NULL;

    if (cudaMallocHost(&block, n) != cudaSuccess)
        return -1;
    if (source == NULL)
        goto no_source;
    if (cudaMemcpy(device, block, n, cudaMemcpyHostToDevice) != cudaSuccess)
        goto out;
    cudaFreeHost(block);
    return 0;

no_source:
    cudaFreeHost(block);
out:
    cudaFreeHost(block); /* pin-expect: double-release */
    return -1;
}
