// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// A CUDA device as an accelerator.
///
/// Streams are non-blocking ones of the CUDA runtime, memory is stream-ordered (`cudaMallocAsync`), and each
/// event is recorded on the stream's own device at the moment it is asked for. Every call restores the device
/// that was current on the calling thread. Device memory is not addressable by the host, so `Stream::launch`
/// refuses: kernels are launched on native_stream().
///
/// ```
/// auto device = pinwarden::cuda::make_cuda_accelerator(0);
/// auto stream = device->create_stream("offload");
/// ```

#include <pinwarden/accelerator/accelerator.hpp>
#include <pinwarden/core/export.hpp>

namespace pinwarden::cuda {

/// The device of that number, under the name `cuda:0` for example. Makes a context on it if there is none.
/// @throws UnavailableError if there is no such device, AcceleratorError if it cannot be used.
[[nodiscard]] PINWARDEN_API AcceleratorPtr make_cuda_accelerator(int device = 0);

}  // namespace pinwarden::cuda
