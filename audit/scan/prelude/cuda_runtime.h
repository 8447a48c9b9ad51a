// SPDX-License-Identifier: Apache-2.0
// The part of CUDA's runtime interface that pins, copies and waits, for machines without the toolkit.
#ifndef PINWARDEN_PRELUDE_CUDA_RUNTIME_H
#define PINWARDEN_PRELUDE_CUDA_RUNTIME_H
#include "device_language.h"
#define CUDART_VERSION 12000
#define CUDART_CB
#define CUDARTAPI
#ifdef __cplusplus
#define GPU_NO_STREAM = 0
#else
#define GPU_NO_STREAM
#endif
#define GPU_STREAM CUstream_st
#define GPU_EVENT CUevent_st
#define GPU(x) cuda##x
#include "gpu_runtime.inc"
#undef GPU
#undef GPU_EVENT
#undef GPU_STREAM
#undef GPU_NO_STREAM
#ifdef __cplusplus
extern "C" {
cudaError_t cudaConfigureCall(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = 0);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0, struct CUstream_st *stream = 0);
cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared,
                             cudaStream_t stream);
}
#endif
#endif
