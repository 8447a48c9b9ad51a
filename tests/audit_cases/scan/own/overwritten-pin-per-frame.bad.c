/* Wrong: each frame pins a block of its own into the same pointer, and one release follows the loop. */
#include <cuda_runtime.h>
#include <stddef.h>

int frames(void *device, size_t n, int count)
{
    void *block = NULL;
    int i;

    for (i = 0; i < count; ++i) {
        if (cudaMallocHost(&block, n) != cudaSuccess) /* pin-expect: overwritten-pin */
            break;
        if (cudaMemcpy(device, block, n, cudaMemcpyHostToDevice) != cudaSuccess)
            break;
    }
    cudaFreeHost(block);
    return i;
}
