// Wrong: a structure is passed by value to the kernel's host code, and each copy's destructor releases the block.
#include <cuda_runtime.h>

struct Samples {  // pin-expect: copyable-owner
    float* host = nullptr;
    int count = 0;

    explicit Samples(int n) : count(n)
    {
        if (cudaMallocHost((void**)&host, n * sizeof(float)) != cudaSuccess)
            host = nullptr;
    }
    ~Samples() { cudaFreeHost(host); }
};

float first(Samples samples)
{
    return samples.host ? samples.host[0] : 0.0f;
}
