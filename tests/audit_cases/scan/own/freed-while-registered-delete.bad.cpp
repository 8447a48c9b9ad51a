// Wrong: the array is deleted while it is still registered with the device.
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
    delete[] values;  // pin-expect: freed-while-registered
    return true;
}
