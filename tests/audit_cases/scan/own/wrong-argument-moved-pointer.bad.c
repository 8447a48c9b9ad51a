/* Wrong: the loop moves the pointer itself, and the end of the block is released. */
#include <cuda_runtime.h>
#include <stddef.h>

int count_set(const void *device, size_t n)
{
    unsigned char *bytes = NULL;
    size_t i;
    int set = 0;

    if (cudaMallocHost((void **)&bytes, n) != cudaSuccess)
        return -1;
    if (cudaMemcpy(bytes, device, n, cudaMemcpyDeviceToHost) == cudaSuccess) {
        for (i = 0; i < n; ++i)
            set += *bytes++ != 0;
    }
    cudaFreeHost(bytes); /* pin-expect: wrong-argument */
    return set;
}
