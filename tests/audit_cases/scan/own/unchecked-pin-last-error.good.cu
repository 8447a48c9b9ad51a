// Right: the pin is made first and the last error is asked for before the memory is used.
#include <cuda_runtime.h>

int fill(int n)
{
    int* host = nullptr;
    cudaMallocHost((void**)&host, n * sizeof(int));
    if (cudaGetLastError() != cudaSuccess)
        return -1;
    for (int i = 0; i < n; ++i)
        host[i] = i;
    cudaFreeHost(host);
    return 0;
}
