// Wrong: the answer is thrown away on purpose, and the block is written all the same.
#include <hip/hip_runtime.h>

#include <cstddef>

void zero(std::size_t n)
{
    float* block = nullptr;
    (void)hipHostMalloc((void**)&block, n * sizeof(float), 0);  // pin-expect: unchecked-pin
    for (std::size_t i = 0; i < n; ++i)
        block[i] = 0.0f;
    (void)hipHostFree(block);
}
