/* Right: the range is registered with the device, and unregistered. */
#include <cuda_runtime.h>
#include <stddef.h>

int copy_in(void *range, size_t n, void *device)
{
    int rc = -1;

    if (cudaHostRegister(range, n, cudaHostRegisterDefault) != cudaSuccess)
        return -1;
    if (cudaMemcpy(device, range, n, cudaMemcpyHostToDevice) == cudaSuccess)
        rc = 0;
    cudaHostUnregister(range);
    return rc;
}
