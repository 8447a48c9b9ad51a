// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Host memory pinned by the CUDA runtime: what `DS_PIN_MEMORY_BACKEND=cuda` chooses.
///
/// Memory comes from `cudaHostAlloc`, portable, so that every device reaches it by direct memory access. The
/// driver holds the pages itself: they count as locked in the audit, and not in the kernel's `VmLck`. Memory
/// of others is registered by `cudaHostRegister`, whole pages in pieces of at most one gibibyte.
///
/// All of it is made in the context of one device: that of the first CUDA accelerator of the process, or else
/// the device that was current when something was first pinned.

#include <pinwarden/backend/pin_backend.hpp>
#include <pinwarden/core/export.hpp>

namespace pinwarden::cuda {

/// The process's backend over the CUDA runtime; never destroyed. Thread-safe.
/// @throws UnavailableError if no device answers.
[[nodiscard]] PINWARDEN_API PinBackendPtr cuda_backend();

}  // namespace pinwarden::cuda
