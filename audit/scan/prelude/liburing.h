// SPDX-License-Identifier: Apache-2.0
// The part of liburing that registers buffers.
#ifndef PINWARDEN_PRELUDE_LIBURING_H
#define PINWARDEN_PRELUDE_LIBURING_H
#include <stddef.h>
#include <sys/uio.h>
#ifdef __cplusplus
extern "C" {
#endif
struct io_uring_sqe;
struct io_uring_cqe;
struct io_uring {
    unsigned flags;
    int ring_fd;
};
int io_uring_queue_init(unsigned entries, struct io_uring *ring, unsigned flags);
void io_uring_queue_exit(struct io_uring *ring);
int io_uring_register_buffers(struct io_uring *ring, const struct iovec *iovecs, unsigned nr_iovecs);
int io_uring_register_buffers_sparse(struct io_uring *ring, unsigned nr);
int io_uring_unregister_buffers(struct io_uring *ring);
struct io_uring_sqe *io_uring_get_sqe(struct io_uring *ring);
int io_uring_submit(struct io_uring *ring);
int io_uring_wait_cqe(struct io_uring *ring, struct io_uring_cqe **cqe);
#ifdef __cplusplus
}
#endif
#endif
