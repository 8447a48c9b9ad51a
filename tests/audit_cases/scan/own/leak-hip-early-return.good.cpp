// Right: the second failure gives the first block back.
#include <hip/hip_runtime.h>

#include <cstddef>

int open_pair(void** device, std::size_t n)
{
    void* host = nullptr;
    if (hipHostMalloc(&host, n, 0) != hipSuccess)
        return -1;
    if (hipMalloc(device, n) != hipSuccess) {
        hipHostFree(host);
        return -2;
    }
    hipHostFree(host);
    return 0;
}
