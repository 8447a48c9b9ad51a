// Wrong: the whole frame is registered, and then its memory once more for the second stream.
#include <cuda_runtime.h>

#include <cstddef>

bool attach(void* frame, std::size_t n)
{
    if (cudaHostRegister(frame, n, cudaHostRegisterDefault) != cudaSuccess)
        return false;
    if (cudaHostRegister(frame, n, cudaHostRegisterPortable) != cudaSuccess) {  // pin-expect: double-pin
        cudaHostUnregister(frame);
        return false;
    }
    cudaHostUnregister(frame);
    return true;
}
