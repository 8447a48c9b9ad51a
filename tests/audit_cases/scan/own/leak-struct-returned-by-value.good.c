/* Right: the pinned buffer is part of the structure that is returned; the caller releases it. */
#include <cuda_runtime.h>
#include <stddef.h>

struct pair {
    float *host;
    size_t n;
};

struct pair pair_make(size_t n)
{
    struct pair p = {NULL, 0};
    if (cudaMallocHost((void **)&p.host, n * sizeof(float)) == cudaSuccess)
        p.n = n;
    return p;
}

int pair_use(size_t n, float *device)
{
    struct pair p = pair_make(n);
    if (!p.host)
        return -1;
    int rc = cudaMemcpy(device, p.host, n * sizeof(float), cudaMemcpyHostToDevice) == cudaSuccess ? 0 : -1;
    cudaFreeHost(p.host);
    return rc;
}
