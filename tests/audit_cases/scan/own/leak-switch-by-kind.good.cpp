// Right: one pair of functions serves several kinds of memory; the kind says what was done and what is to be undone.
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdlib>

enum class Kind { pageable, pinned, mapped, device };

bool memory_get(std::size_t bytes, Kind kind, void** out)
{
    switch (kind) {
    case Kind::pageable:
        *out = std::malloc(bytes);
        return *out != nullptr;
    case Kind::pinned:
        return cudaHostAlloc(out, bytes, cudaHostAllocPortable) == cudaSuccess;
    case Kind::mapped:
        return cudaHostAlloc(out, bytes, cudaHostAllocMapped) == cudaSuccess;
    case Kind::device:
        return cudaMalloc(out, bytes) == cudaSuccess;
    }
    return false;
}

void memory_put(void* p, Kind kind)
{
    if (!p)
        return;
    switch (kind) {
    case Kind::pageable: std::free(p); break;
    case Kind::pinned:
    case Kind::mapped: cudaFreeHost(p); break;
    case Kind::device: cudaFree(p); break;
    }
}

template <class T>
void memory_put_typed(T* p, bool on_device)
{
    if (p) {
        const cudaError_t code = on_device ? cudaFree((void*)p) : cudaFreeHost((void*)p);
        if (code != cudaSuccess)
            std::abort();
    }
}

void use(std::size_t n)
{
    void* p = nullptr;
    if (memory_get(n, Kind::pinned, &p))
        memory_put(p, Kind::pinned);
    float* q = nullptr;
    if (cudaMallocHost((void**)&q, n) == cudaSuccess)
        memory_put_typed(q, false);
}
