// Right: the structure cannot be copied, and is passed by reference.
#include <cuda_runtime.h>

struct Samples {
    float* host = nullptr;
    int count = 0;

    explicit Samples(int n) : count(n)
    {
        if (cudaMallocHost((void**)&host, n * sizeof(float)) != cudaSuccess)
            host = nullptr;
    }
    Samples(const Samples&) = delete;
    Samples& operator=(const Samples&) = delete;
    ~Samples() { cudaFreeHost(host); }
};

float first(const Samples& samples)
{
    return samples.host ? samples.host[0] : 0.0f;
}
