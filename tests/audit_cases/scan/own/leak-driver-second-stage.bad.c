/* Wrong: where the device has no memory left, the host's block is forgotten. */
#include <cuda.h>
#include <stddef.h>

struct stage {
    void *host;
    CUdeviceptr device;
};

struct stage *stage_fill(struct stage *s, size_t n)
{
    void *host = NULL;

    if (cuMemAllocHost(&host, n) != CUDA_SUCCESS) /* pin-expect: leak */
        return NULL;
    if (cuMemAlloc(&s->device, n) != CUDA_SUCCESS)
        return NULL;
    s->host = host;
    return s;
}
