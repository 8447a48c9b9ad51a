/* Right: two functions share pinned globals: one sets them up, the other takes them down. */
#include <cuda_runtime.h>
#include <stddef.h>

static float *staging[2];
static float *results;

int buffers_init(size_t n)
{
    if (cudaMallocHost((void **)&results, n * sizeof(float)) != cudaSuccess)
        return -1;
    for (int i = 0; i < 2; i++) {
        if (cudaMallocHost((void **)&staging[i], n * sizeof(float)) != cudaSuccess)
            return -1;
    }
    return 0;
}

void buffers_exit(void)
{
    for (int i = 0; i < 2; i++)
        cudaFreeHost(staging[i]);
    cudaFreeHost(results);
}
