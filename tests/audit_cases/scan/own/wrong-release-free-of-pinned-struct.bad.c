/* Wrong: the request is pinned, and closed with free(). */
#include <cuda_runtime.h>
#include <stdlib.h>

struct request {
    int id;
    char body[60];
};

int request_run(int id, void *device)
{
    struct request *r = NULL;

    if (cudaMallocHost((void **)&r, sizeof(*r)) != cudaSuccess)
        return -1;
    r->id = id;
    if (cudaMemcpy(device, r, sizeof(*r), cudaMemcpyHostToDevice) != cudaSuccess) {
        cudaFreeHost(r);
        return -1;
    }
    free(r); /* pin-expect: wrong-release */
    return 0;
}
