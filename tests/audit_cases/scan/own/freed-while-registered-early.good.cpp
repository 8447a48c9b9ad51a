// Right: on the error path too the registration is taken back before the memory is freed.
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdlib>

bool push(void* device, std::size_t n)
{
    void* memory = std::malloc(n);
    if (!memory)
        return false;
    if (cudaHostRegister(memory, n, cudaHostRegisterDefault) != cudaSuccess) {
        std::free(memory);
        return false;
    }
    if (cudaMemcpy(device, memory, n, cudaMemcpyHostToDevice) != cudaSuccess) {
        cudaHostUnregister(memory);
        std::free(memory);
        return false;
    }
    cudaHostUnregister(memory);
    std::free(memory);
    return true;
}
