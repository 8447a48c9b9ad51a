/* Right: the host function only leaves a mark, and the owner releases the block when it finds it. */
#include <cuda.h>
#include <stddef.h>

struct job {
    void *block;
    volatile int finished;
};

static void CUDA_CB done(void *data)
{
    struct job *job = data;

    job->finished = 1;
}

int submit(struct job *job, CUdeviceptr to, size_t n, CUstream stream)
{
    job->finished = 0;
    if (cuMemAllocHost(&job->block, n) != CUDA_SUCCESS)
        return -1;
    if (cuMemcpyHtoDAsync(to, job->block, n, stream) == CUDA_SUCCESS &&
        cuLaunchHostFunc(stream, done, job) == CUDA_SUCCESS)
        return 0;
    cuStreamSynchronize(stream);
    cuMemFreeHost(job->block);
    return -1;
}

void sweep(struct job *job)
{
    if (job->finished) {
        cuMemFreeHost(job->block);
        job->block = NULL;
    }
}
