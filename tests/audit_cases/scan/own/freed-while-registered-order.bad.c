/* Wrong: the frame is freed first and unregistered after that. */
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
    free(frame); /* pin-expect: freed-while-registered */
    cudaHostUnregister(frame);
    return 0;
}
