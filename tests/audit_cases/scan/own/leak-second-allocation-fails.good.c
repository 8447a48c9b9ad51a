/* Right: when the device buffer cannot be had, the host buffer is released first. */
#include <cuda_runtime.h>
#include <stddef.h>

int checksum_rows(const float *rows, size_t n, double *sum)
{
    float *host = NULL;
    float *dev = NULL;

    if (cudaHostAlloc((void **)&host, n * sizeof(*host), cudaHostAllocDefault) != cudaSuccess)
        return -1;
    if (cudaMalloc((void **)&dev, n * sizeof(*dev)) != cudaSuccess) {
        cudaFreeHost(host);
        return -2;
    }

    *sum = 0;
    for (size_t i = 0; i < n; i++)
        *sum += rows[i];
    cudaFree(dev);
    cudaFreeHost(host);
    return 0;
}
