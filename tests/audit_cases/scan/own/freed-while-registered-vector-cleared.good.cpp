// Right: memory is registered, used, unregistered and freed in this order on every path.
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
    const bool ok = cudaMemcpy(device, memory, n, cudaMemcpyHostToDevice) == cudaSuccess;
    cudaHostUnregister(memory);
    std::free(memory);
    return ok;
}
