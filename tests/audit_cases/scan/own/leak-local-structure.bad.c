/* Wrong: the structure on the stack goes out of scope with a pin in it when the second copy fails. */
#include <cuda_runtime.h>
#include <stddef.h>

struct work {
    float *host;
    size_t n;
};

int work_run(const float *device, size_t n, float *out)
{
    struct work w = {NULL, n};
    if (cudaHostAlloc((void **)&w.host, n * sizeof(float), 0) != cudaSuccess) /* pin-expect: leak */
        return -1;
    if (cudaMemcpy(w.host, device, n * sizeof(float), cudaMemcpyDeviceToHost) != cudaSuccess)
        return -2;
    for (size_t i = 0; i < n; i++)
        out[i] = w.host[i];
    cudaFreeHost(w.host);
    return 0;
}
