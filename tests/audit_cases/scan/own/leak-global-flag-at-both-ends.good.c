/* Right: one global flag says how memory is got and how it is given back; calls in between do not change it. */
#include <cuda_runtime.h>
#include <stddef.h>
#include <stdlib.h>

int use_pinned;
void report(const char *what);

int measure(size_t n, void *device)
{
    void *host = NULL;

    if (use_pinned) {
        if (cudaMallocHost(&host, n) != cudaSuccess)
            return -1;
    } else {
        host = malloc(n);
        if (!host)
            return -1;
    }
    report("copying");
    cudaMemcpy(device, host, n, cudaMemcpyHostToDevice);
    report("copied");
    if (use_pinned)
        cudaFreeHost(host);
    else
        free(host);
    return 0;
}
