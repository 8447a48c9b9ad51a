// Right: pins are collected in a local vector and released from it.
#include <cuda_runtime.h>

#include <cstddef>
#include <vector>

bool warm_up(std::size_t count, std::size_t bytes)
{
    std::vector<void*> blocks;
    bool ok = true;
    for (std::size_t i = 0; ok && i < count; ++i) {
        void* block = nullptr;
        ok = cudaMallocHost(&block, bytes) == cudaSuccess;
        if (ok)
            blocks.push_back(block);
    }
    for (void* block : blocks)
        cudaFreeHost(block);
    return ok;
}
