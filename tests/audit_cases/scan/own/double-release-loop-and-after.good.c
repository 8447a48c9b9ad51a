/* Right: the failed round only leaves the loop; the block is released behind it. */
#include <cuda_runtime.h>
#include <stddef.h>

int send_rounds(void *device, size_t n, int rounds)
{
    void *block = NULL;
    int rc = 0;

    if (cudaMallocHost(&block, n) != cudaSuccess)
        return -1;
    for (int i = 0; i < rounds; i++) {
        if (cudaMemcpy(device, block, n, cudaMemcpyHostToDevice) != cudaSuccess) {
            rc = -1;
            break;
        }
    }
    cudaFreeHost(block);
    return rc;
}
