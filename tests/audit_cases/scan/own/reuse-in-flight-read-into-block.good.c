/* Right: each copy has ended before the next piece of the file is read into the block. */
#include <cuda_runtime.h>
#include <stdio.h>

int stream_file(FILE *file, void *device, cudaStream_t stream)
{
    char *block = NULL;
    size_t n;

    if (cudaMallocHost((void **)&block, 4096) != cudaSuccess)
        return -1;
    while ((n = fread(block, 1, 4096, file)) > 0) {
        cudaMemcpyAsync(device, block, n, cudaMemcpyHostToDevice, stream);
        cudaStreamSynchronize(stream);
    }
    cudaFreeHost(block);
    return 0;
}
