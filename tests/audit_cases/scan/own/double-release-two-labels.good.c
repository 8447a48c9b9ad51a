/* Right: both errors go to the one label that releases. */
#include <cuda_runtime.h>
#include <stddef.h>

int copy_in(void *device, const void *source, size_t n)
{
    void *block = NULL;

    if (cudaMallocHost(&block, n) != cudaSuccess)
        return -1;
    if (source == NULL)
        goto out;
    if (cudaMemcpy(device, block, n, cudaMemcpyHostToDevice) != cudaSuccess)
        goto out;
    cudaFreeHost(block);
    return 0;

out:
    cudaFreeHost(block);
    return -1;
}
