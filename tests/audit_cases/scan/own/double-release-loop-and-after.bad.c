/* Wrong: the failed round releases the block, and the code behind the loop releases it again. */
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
            cudaFreeHost(block);
            rc = -1;
            break;
        }
    }
    cudaFreeHost(block); /* pin-expect: double-release */
    return rc;
}
