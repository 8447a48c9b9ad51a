/* Right: without a block there is no greeting. */
#include <cuda_runtime.h>
#include <stddef.h>
#include <string.h>

void greet(void *device, size_t n)
{
    char *block = NULL;

    if (cudaMallocHost((void **)&block, n) != cudaSuccess)
        return;
    strncpy(block, "hello", n);
    cudaMemcpy(device, block, n, cudaMemcpyHostToDevice);
    cudaFreeHost(block);
}
