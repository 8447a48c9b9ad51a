/* Wrong: the ring is closed on the good way only. */
#include <liburing.h>
#include <stddef.h>

int run(struct io_uring *ring, const struct iovec *buffers, unsigned count, int ready)
{
    if (io_uring_register_buffers(ring, buffers, count) != 0) /* pin-expect: leak */
        return -1;
    if (!ready)
        return -2;
    io_uring_unregister_buffers(ring);
    return 0;
}
