// Wrong: the second failure returns without the first block.
#include <hip/hip_runtime.h>

#include <cstddef>

int open_pair(void** device, std::size_t n)
{
    void* host = nullptr;
    if (hipHostMalloc(&host, n, 0) != hipSuccess)  // pin-expect: leak
        return -1;
    if (hipMalloc(device, n) != hipSuccess)
        return -2;
    hipHostFree(host);
    return 0;
}
