// Right: the block is written only where there is one.
#include <hip/hip_runtime.h>

#include <cstddef>

void zero(std::size_t n)
{
    float* block = nullptr;
    if (hipHostMalloc((void**)&block, n * sizeof(float), 0) != hipSuccess)
        return;
    for (std::size_t i = 0; i < n; ++i)
        block[i] = 0.0f;
    (void)hipHostFree(block);
}
