/* Right: the registration ends before the memory does. */
#include <cuda_runtime.h>
#include <stdlib.h>

int with_frame(size_t n)
{
    void *frame = malloc(n);

    if (frame == NULL)
        return -1;
    if (cudaHostRegister(frame, n, cudaHostRegisterDefault) != cudaSuccess) {
        free(frame);
        return -1;
    }
    cudaHostUnregister(frame);
    free(frame);
    return 0;
}
