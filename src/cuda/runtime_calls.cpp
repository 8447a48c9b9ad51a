// SPDX-License-Identifier: Apache-2.0
#include "cuda/runtime_calls.hpp"

namespace pinwarden::cuda::detail {

const RuntimeCalls& runtime_calls() noexcept {
    // The headers overload some of these names in C++; the pointer's type picks the plain function.
    static constexpr RuntimeCalls calls{
        .get_device_count = {"cudaGetDeviceCount", &::cudaGetDeviceCount},
        .get_device = {"cudaGetDevice", &::cudaGetDevice},
        .set_device = {"cudaSetDevice", &::cudaSetDevice},
        .memory_info = {"cudaMemGetInfo", &::cudaMemGetInfo},
        .host_alloc = {"cudaHostAlloc", &::cudaHostAlloc},
        .free_host = {"cudaFreeHost", &::cudaFreeHost},
        .host_register = {"cudaHostRegister", &::cudaHostRegister},
        .host_unregister = {"cudaHostUnregister", &::cudaHostUnregister},
        .malloc_async = {"cudaMallocAsync", &::cudaMallocAsync},
        .free_async = {"cudaFreeAsync", &::cudaFreeAsync},
        .memcpy_async = {"cudaMemcpyAsync", &::cudaMemcpyAsync},
        .stream_create = {"cudaStreamCreateWithFlags", &::cudaStreamCreateWithFlags},
        .stream_destroy = {"cudaStreamDestroy", &::cudaStreamDestroy},
        .stream_synchronize = {"cudaStreamSynchronize", &::cudaStreamSynchronize},
        .event_create = {"cudaEventCreateWithFlags", &::cudaEventCreateWithFlags},
        .event_record = {"cudaEventRecord", &::cudaEventRecord},
        .event_query = {"cudaEventQuery", &::cudaEventQuery},
        .event_destroy = {"cudaEventDestroy", &::cudaEventDestroy},
        .peek_at_last_error = &::cudaPeekAtLastError,
        .get_last_error = &::cudaGetLastError,
        .error_name = &::cudaGetErrorName,
        .error_string = &::cudaGetErrorString,
    };
    return calls;
}

}  // namespace pinwarden::cuda::detail
