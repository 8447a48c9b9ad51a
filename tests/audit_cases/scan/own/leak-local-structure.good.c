/* Right: the pin in the structure is released whether the copy works or not. */
#include <cuda_runtime.h>
#include <stddef.h>

struct work {
    float *host;
    size_t n;
};

int work_run(const float *device, size_t n, float *out)
{
    struct work w = {NULL, n};
    if (cudaHostAlloc((void **)&w.host, n * sizeof(float), 0) != cudaSuccess)
        return -1;
    if (cudaMemcpy(w.host, device, n * sizeof(float), cudaMemcpyDeviceToHost) != cudaSuccess) {
        cudaFreeHost(w.host);
        return -2;
    }
    for (size_t i = 0; i < n; i++)
        out[i] = w.host[i];
    cudaFreeHost(w.host);
    return 0;
}
