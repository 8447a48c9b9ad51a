/* Wrong: where the queue pair cannot be made, the memory region stays registered. */
#include <infiniband/verbs.h>
#include <stddef.h>

int serve(struct ibv_pd *pd, void *ring, size_t n, int ready)
{
    struct ibv_mr *mr = ibv_reg_mr(pd, ring, n, IBV_ACCESS_LOCAL_WRITE); /* pin-expect: leak */

    if (!mr)
        return -1;
    if (!ready)
        return -2;
    ibv_dereg_mr(mr);
    return 0;
}
