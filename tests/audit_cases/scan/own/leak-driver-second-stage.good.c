/* Right: without memory on the device the host's block goes back. */
#include <cuda.h>
#include <stddef.h>

struct stage {
    void *host;
    CUdeviceptr device;
};

struct stage *stage_fill(struct stage *s, size_t n)
{
    void *host = NULL;

    if (cuMemAllocHost(&host, n) != CUDA_SUCCESS)
        return NULL;
    if (cuMemAlloc(&s->device, n) != CUDA_SUCCESS) {
        cuMemFreeHost(host);
        return NULL;
    }
    s->host = host;
    return s;
}
