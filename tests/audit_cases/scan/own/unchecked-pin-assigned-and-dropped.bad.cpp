// Wrong: the answer is stored in a variable that nobody reads before the memory is written.
#include <cuda_runtime.h>

#include <cstddef>
#include <cstring>

void mark(std::size_t n)
{
    char* text = nullptr;
    const cudaError_t answer = cudaHostAlloc((void**)&text, n, cudaHostAllocDefault);  // pin-expect: unchecked-pin
    std::memset(text, ' ', n);
    cudaFreeHost(text);
    (void)answer;
}
