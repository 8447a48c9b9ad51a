// Wrong: on the error path the memory is freed while it is still registered.
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
        std::free(memory);  // pin-expect: freed-while-registered
        return false;
    }
    cudaHostUnregister(memory);
    std::free(memory);
    return true;
}
