/* Right: both ways take the buffers back. */
#include <liburing.h>
#include <stddef.h>

int run(struct io_uring *ring, const struct iovec *buffers, unsigned count, int ready)
{
    int status = 0;

    if (io_uring_register_buffers(ring, buffers, count) != 0)
        return -1;
    if (!ready)
        status = -2;
    io_uring_unregister_buffers(ring);
    return status;
}
