// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The calls of the CUDA runtime that this library makes, as a table, so that a test can stand in for all of
/// them.
///
/// No entry is ever called from inside a function that a stream calls back, and none once exit has begun:
/// Runtime sees to that, and is the only one who calls through the table.

#include <cuda_runtime_api.h>

#include <cstddef>

#include <pinwarden/core/export.hpp>

namespace pinwarden::cuda::detail {

/// One function and the name that messages give it.
template <typename... Parameters>
struct RuntimeCall {
    const char* name;
    cudaError_t (*function)(Parameters...);
};

/// All of them exist in CUDA 12 and in CUDA 13.
struct RuntimeCalls {
    RuntimeCall<int*> get_device_count;
    RuntimeCall<int*> get_device;
    RuntimeCall<int> set_device;
    RuntimeCall<std::size_t*, std::size_t*> memory_info;  ///< free and total bytes of the current device

    RuntimeCall<void**, std::size_t, unsigned> host_alloc;
    RuntimeCall<void*> free_host;
    RuntimeCall<void*, std::size_t, unsigned> host_register;
    RuntimeCall<void*> host_unregister;

    RuntimeCall<void**, std::size_t, cudaStream_t> malloc_async;
    RuntimeCall<void*, cudaStream_t> free_async;
    RuntimeCall<void*, const void*, std::size_t, cudaMemcpyKind, cudaStream_t> memcpy_async;

    RuntimeCall<cudaStream_t*, unsigned> stream_create;
    RuntimeCall<cudaStream_t> stream_destroy;
    RuntimeCall<cudaStream_t> stream_synchronize;

    RuntimeCall<cudaEvent_t*, unsigned> event_create;
    RuntimeCall<cudaEvent_t, cudaStream_t> event_record;
    RuntimeCall<cudaEvent_t> event_query;
    RuntimeCall<cudaEvent_t> event_destroy;

    cudaError_t (*peek_at_last_error)();
    cudaError_t (*get_last_error)();
    const char* (*error_name)(cudaError_t);
    const char* (*error_string)(cudaError_t);
};

/// The CUDA runtime's own. Thread-safe.
[[nodiscard]] PINWARDEN_API const RuntimeCalls& runtime_calls() noexcept;

}  // namespace pinwarden::cuda::detail
