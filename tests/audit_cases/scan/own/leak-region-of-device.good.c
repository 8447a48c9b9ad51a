/* Right: both ways out take the registration back. */
#include <infiniband/verbs.h>
#include <stddef.h>

int serve(struct ibv_pd *pd, void *ring, size_t n, int ready)
{
    struct ibv_mr *mr = ibv_reg_mr(pd, ring, n, IBV_ACCESS_LOCAL_WRITE);
    int status = 0;

    if (!mr)
        return -1;
    if (!ready)
        status = -2;
    ibv_dereg_mr(mr);
    return status;
}
