// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Pages from the kernel, locked by the kernel; needs no device.
///
/// Every block consists of whole pages of its own, because the kernel does not count locks: unlocking one of two
/// blocks that share a page would unlock both. Large blocks ask for huge pages, which makes them several times
/// faster to pin and to unpin; where the kernel refuses, ordinary pages serve.
///
/// The pages are locked by the system call itself and not by the C library's `mlock`, because AddressSanitizer,
/// ThreadSanitizer and MemorySanitizer replace the latter by functions that do nothing and report success.

#include <pinwarden/backend/pin_backend.hpp>
#include <pinwarden/core/export.hpp>

namespace pinwarden {

/// The process's native backend; never destroyed. Thread-safe.
[[nodiscard]] PINWARDEN_API PinBackendPtr native_backend() noexcept;

}  // namespace pinwarden
