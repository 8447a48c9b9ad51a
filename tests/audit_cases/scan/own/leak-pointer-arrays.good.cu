// Right: two arrays of pins are filled in one loop and emptied in another; on an error the program ends.
#include <cuda_runtime.h>

int main(int rounds, char**)
{
    enum { Lanes = 16 };
    float* host[Lanes];
    float* device[Lanes];
    for (int i = 0; i < Lanes; ++i) {
        if (cudaMallocHost((void**)&host[i], 4096) != cudaSuccess)
            return 1;
        if (cudaMalloc((void**)&device[i], 4096) != cudaSuccess)
            return 1;
    }
    for (int r = 0; r < rounds; ++r) {
        for (int i = 0; i < Lanes; ++i)
            cudaMemcpy(device[i], host[i], 4096, cudaMemcpyHostToDevice);
    }
    for (int i = 0; i < Lanes; ++i) {
        cudaFree(device[i]);
        cudaFreeHost(host[i]);
    }
    return 0;
}
