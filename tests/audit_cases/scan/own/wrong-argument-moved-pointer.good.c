/* Right: the loop moves a pointer of its own. */
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
        const unsigned char *at = bytes;
        for (i = 0; i < n; ++i)
            set += *at++ != 0;
    }
    cudaFreeHost(bytes);
    return set;
}
