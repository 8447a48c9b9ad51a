// Right: hipHostFree() is called for memory of hipHostMalloc().
#include <hip/hip_runtime.h>

#include <cstddef>

bool touch(void* device, std::size_t n)
{
    void* host = nullptr;
    if (hipHostMalloc(&host, n, hipHostMallocDefault) != hipSuccess)
        return false;
    const bool ok = hipMemcpy(device, host, n, hipMemcpyHostToDevice) == hipSuccess;
    (void)hipHostFree(host);
    return ok;
}
