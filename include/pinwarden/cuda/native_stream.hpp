// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The bridge to the CUDA runtime's own streams, for programs that launch kernels or copy by themselves.
///
/// CUDA's types do not appear here: a `cudaStream_t` is a pointer, and passes as `void*`.
///
/// ```
/// auto raw = static_cast<cudaStream_t>(pinwarden::cuda::native_stream(*stream));
/// scale<<<blocks, threads, 0, raw>>>(weights.device_span().data());       // ordered with the stream's
/// copies
///
/// my_copy_async(buffer.data(), their_stream);                             // work the library does not see
/// buffer.record_use(pinwarden::cuda::record_native(their_stream, 0, "loader"));
/// ```

#include <string>

#include <pinwarden/accelerator/accelerator.hpp>
#include <pinwarden/core/completion.hpp>
#include <pinwarden/core/export.hpp>

namespace pinwarden::cuda {

/// The `cudaStream_t` behind a stream of a CUDA accelerator; valid as long as `stream` is.
/// @throws AcceleratorError if `stream` is none of a CUDA accelerator.
[[nodiscard]] PINWARDEN_API void* native_stream(const Stream& stream);

/// The point that somebody else's `stream` of `device` has reached now. `name` appears in reports about work
/// stuck on it. Each result counts as a queue of its own, because CUDA gives the handle of a destroyed stream
/// to a new one.
/// @throws AcceleratorError if it cannot be recorded; wait for the stream yourself then. UnavailableError
/// without CUDA.
[[nodiscard]] PINWARDEN_API CompletionTokenPtr record_native(void* stream, int device, std::string name);

}  // namespace pinwarden::cuda
