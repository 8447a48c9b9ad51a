/* Wrong: the range is registered with the device, and given back by munlock(). */
#include <cuda_runtime.h>
#include <stddef.h>
#include <sys/mman.h>

int copy_in(void *range, size_t n, void *device)
{
    int rc = -1;

    if (cudaHostRegister(range, n, cudaHostRegisterDefault) != cudaSuccess)
        return -1;
    if (cudaMemcpy(device, range, n, cudaMemcpyHostToDevice) == cudaSuccess)
        rc = 0;
    munlock(range, n); /* pin-expect: wrong-release */
    return rc;
}
