// Wrong: the check macro ends the program, but the function itself returns early for an empty input and keeps the pin.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#define MUST(call)                                                                \
    do {                                                                          \
        cudaError_t status_ = (call);                                             \
        if (status_ != cudaSuccess) {                                             \
            std::fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
            std::exit(EXIT_FAILURE);                                              \
        }                                                                         \
    } while (0)

float largest(const float* device, int n)
{
    float* host;
    MUST(cudaMallocHost((void**)&host, n * sizeof(float)));  // pin-expect: leak
    if (n == 0)
        return 0;
    MUST(cudaMemcpy(host, device, n * sizeof(float), cudaMemcpyDeviceToHost));
    float best = host[0];
    for (int i = 1; i < n; ++i)
        best = host[i] > best ? host[i] : best;
    MUST(cudaFreeHost(host));
    return best;
}
