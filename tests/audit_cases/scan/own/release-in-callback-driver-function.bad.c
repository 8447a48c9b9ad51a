/* Wrong: the host function releases the block with the driver, which it must not call. */
#include <cuda.h>
#include <stddef.h>

struct job {
    void *block;
};

static void CUDA_CB done(void *data)
{
    struct job *job = data;

    cuMemFreeHost(job->block); /* pin-expect: release-in-callback */
}

int submit(struct job *job, CUdeviceptr to, size_t n, CUstream stream)
{
    if (cuMemAllocHost(&job->block, n) != CUDA_SUCCESS)
        return -1;
    if (cuMemcpyHtoDAsync(to, job->block, n, stream) == CUDA_SUCCESS &&
        cuLaunchHostFunc(stream, done, job) == CUDA_SUCCESS)
        return 0;
    cuStreamSynchronize(stream);
    cuMemFreeHost(job->block);
    return -1;
}
