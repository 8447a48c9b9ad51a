/* Wrong: nobody looks whether the block could be had, and its first bytes are written. */
#include <cuda_runtime.h>
#include <stddef.h>
#include <string.h>

void greet(void *device, size_t n)
{
    char *block = NULL;

    cudaMallocHost((void **)&block, n); /* pin-expect: unchecked-pin */
    strncpy(block, "hello", n);
    cudaMemcpy(device, block, n, cudaMemcpyHostToDevice);
    cudaFreeHost(block);
}
