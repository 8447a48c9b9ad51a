// SPDX-License-Identifier: Apache-2.0
// The part of libibverbs that registers memory.
#ifndef PINWARDEN_PRELUDE_VERBS_H
#define PINWARDEN_PRELUDE_VERBS_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
struct ibv_context;
struct ibv_device;
struct ibv_cq;
struct ibv_qp;
struct ibv_pd {
    struct ibv_context *context;
    uint32_t handle;
};
struct ibv_mr {
    struct ibv_context *context;
    struct ibv_pd *pd;
    void *addr;
    size_t length;
    uint32_t handle;
    uint32_t lkey;
    uint32_t rkey;
};
struct ibv_sge {
    uint64_t addr;
    uint32_t length;
    uint32_t lkey;
};
enum ibv_access_flags {
    IBV_ACCESS_LOCAL_WRITE = 1,
    IBV_ACCESS_REMOTE_WRITE = 2,
    IBV_ACCESS_REMOTE_READ = 4,
    IBV_ACCESS_REMOTE_ATOMIC = 8,
    IBV_ACCESS_RELAXED_ORDERING = 1 << 20
};
struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access);
struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, int access);
struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned access);
int ibv_dereg_mr(struct ibv_mr *mr);
struct ibv_pd *ibv_alloc_pd(struct ibv_context *context);
int ibv_dealloc_pd(struct ibv_pd *pd);
#ifdef __cplusplus
}
#endif
#endif
