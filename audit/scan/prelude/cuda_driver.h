// SPDX-License-Identifier: Apache-2.0
// The part of CUDA's driver interface that pins, copies and waits.
#ifndef PINWARDEN_PRELUDE_CUDA_DRIVER_H
#define PINWARDEN_PRELUDE_CUDA_DRIVER_H
#include <stddef.h>
#define CUDA_VERSION 12000
#define CUDAAPI
#define CUDA_CB
#ifdef __cplusplus
extern "C" {
#endif
typedef unsigned long long CUdeviceptr;
typedef int CUdevice;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef enum cudaError_enum {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_INVALID_VALUE = 1,
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    CUDA_ERROR_NOT_INITIALIZED = 3,
    CUDA_ERROR_DEINITIALIZED = 4,
    CUDA_ERROR_NO_DEVICE = 100,
    CUDA_ERROR_INVALID_CONTEXT = 201,
    CUDA_ERROR_NOT_READY = 600,
    CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED = 712,
    CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED = 713,
    CUDA_ERROR_NOT_PERMITTED = 800,
    CUDA_ERROR_NOT_SUPPORTED = 801,
    CUDA_ERROR_UNKNOWN = 999
} CUresult;
typedef enum CUdevice_attribute_enum {
    CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY = 19,
    CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING = 41,
    CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED = 86
} CUdevice_attribute;
enum { CU_EVENT_DEFAULT = 0, CU_EVENT_DISABLE_TIMING = 2 };
enum { CU_STREAM_DEFAULT = 0, CU_STREAM_NON_BLOCKING = 1 };
#define CU_MEMHOSTALLOC_PORTABLE 1
#define CU_MEMHOSTALLOC_DEVICEMAP 2
#define CU_MEMHOSTALLOC_WRITECOMBINED 4
#define CU_MEMHOSTREGISTER_PORTABLE 1
#define CU_MEMHOSTREGISTER_DEVICEMAP 2
#define CU_MEMHOSTREGISTER_IOMEMORY 4
#define CU_MEMHOSTREGISTER_READ_ONLY 8
typedef void (*CUhostFn)(void *argument);
typedef void (*CUstreamCallback)(CUstream stream, CUresult status, void *argument);
CUresult cuInit(unsigned flags);
CUresult cuGetErrorString(CUresult code, const char **text);
CUresult cuGetErrorName(CUresult code, const char **text);
CUresult cuDeviceGet(CUdevice *device, int ordinal);
CUresult cuDeviceGetCount(int *count);
CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device);
CUresult cuCtxCreate(CUcontext *context, unsigned flags, CUdevice device);
CUresult cuCtxDestroy(CUcontext context);
CUresult cuCtxSynchronize(void);
CUresult cuCtxPushCurrent(CUcontext context);
CUresult cuCtxPopCurrent(CUcontext *context);
CUresult cuCtxSetCurrent(CUcontext context);
CUresult cuMemAlloc(CUdeviceptr *out, size_t bytes);
CUresult cuMemFree(CUdeviceptr memory);
CUresult cuMemHostAlloc(void **out, size_t bytes, unsigned flags);
CUresult cuMemAllocHost(void **out, size_t bytes);
CUresult cuMemFreeHost(void *memory);
CUresult cuMemHostRegister(void *memory, size_t bytes, unsigned flags);
CUresult cuMemHostUnregister(void *memory);
CUresult cuMemHostGetDevicePointer(CUdeviceptr *out, void *memory, unsigned flags);
CUresult cuMemHostGetFlags(unsigned *flags, void *memory);
CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes);
CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes);
CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t bytes);
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream);
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes, CUstream stream);
CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes, CUstream stream);
CUresult cuMemsetD8(CUdeviceptr to, unsigned char value, size_t n);
CUresult cuStreamCreate(CUstream *stream, unsigned flags);
CUresult cuStreamDestroy(CUstream stream);
CUresult cuStreamSynchronize(CUstream stream);
CUresult cuStreamQuery(CUstream stream);
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags);
CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void *argument, unsigned flags);
CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void *argument);
CUresult cuEventCreate(CUevent *event, unsigned flags);
CUresult cuEventDestroy(CUevent event);
CUresult cuEventRecord(CUevent event, CUstream stream);
CUresult cuEventSynchronize(CUevent event);
CUresult cuEventQuery(CUevent event);
#ifdef __cplusplus
}
#endif
#endif
