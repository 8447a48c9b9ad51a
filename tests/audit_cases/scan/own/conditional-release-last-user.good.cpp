// Right: the last user of the shared block releases it.
#include <cuda_runtime.h>

#include <cstddef>

struct Shared {
    void* host;
    int users;
};

bool shared_open(Shared* s, std::size_t n)
{
    if (s->users == 0 && cudaMallocHost(&s->host, n) != cudaSuccess)
        return false;
    ++s->users;
    return true;
}

void shared_close(Shared* s)
{
    if (--s->users > 0)
        return;
    cudaFreeHost(s->host);
    s->host = nullptr;
}
