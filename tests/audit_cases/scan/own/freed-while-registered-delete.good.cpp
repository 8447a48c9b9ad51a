// Right: the array is unregistered before it is deleted.
#include <cuda_runtime.h>

#include <cstddef>

bool scratch(std::size_t n)
{
    float* values = new float[n];
    if (cudaHostRegister(values, n * sizeof(float), cudaHostRegisterDefault) != cudaSuccess) {
        delete[] values;
        return false;
    }
    values[0] = 1.0f;
    cudaHostUnregister(values);
    delete[] values;
    return true;
}
