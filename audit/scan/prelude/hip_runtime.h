// SPDX-License-Identifier: Apache-2.0
// The part of HIP's runtime interface that pins, copies and waits, for machines without ROCm.
#ifndef PINWARDEN_PRELUDE_HIP_RUNTIME_H
#define PINWARDEN_PRELUDE_HIP_RUNTIME_H
#include "device_language.h"
#ifdef __cplusplus
#define GPU_NO_STREAM = 0
#else
#define GPU_NO_STREAM
#endif
#define GPU_STREAM ihipStream_t
#define GPU_EVENT ihipEvent_t
#define GPU(x) hip##x
#include "gpu_runtime.inc"
#undef GPU
#undef GPU_EVENT
#undef GPU_STREAM
#undef GPU_NO_STREAM
#define hipErrorOutOfMemory hipErrorMemoryAllocation
#define HIP_CB
typedef void *hipDeviceptr_t;
#ifdef __cplusplus
extern "C" {
#endif
hipError_t hipHostFree(void *memory);
hipError_t hipMemcpyHtoDAsync(hipDeviceptr_t to, void *from, size_t bytes, hipStream_t stream);
hipError_t hipMemcpyDtoHAsync(void *to, hipDeviceptr_t from, size_t bytes, hipStream_t stream);
hipError_t hipMemcpyWithStream(void *to, const void *from, size_t bytes, hipMemcpyKind_t kind, hipStream_t stream);
#ifdef __cplusplus
hipError_t hipConfigureCall(dim3 grid, dim3 block, size_t shared = 0, hipStream_t stream = 0);
hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0, hipStream_t stream = 0);
hipError_t hipLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared,
                           hipStream_t stream);
}
#endif
#endif
