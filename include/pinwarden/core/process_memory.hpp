// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// What the kernel says of this process's memory: the witness that the audit is compared with.
///
/// All functions read the kernel's own files at each call (some tens of microseconds) and are thread-safe.

#include <cstddef>
#include <limits>

#include <pinwarden/core/export.hpp>

namespace pinwarden {

/// Stands for "no limit" where a limit in bytes is asked for.
inline constexpr std::size_t unlimited_bytes = std::numeric_limits<std::size_t>::max();

/// Bytes that this process has locked: `VmLck` in /proc/self/status; 0 where that file cannot be read.
[[nodiscard]] PINWARDEN_API std::size_t kernel_locked_bytes() noexcept;

/// The soft limit on locked bytes, `RLIMIT_MEMLOCK`. A process with `CAP_IPC_LOCK` is not bound by it.
[[nodiscard]] PINWARDEN_API std::size_t lock_limit_bytes() noexcept;

/// Bytes that can be allocated before the kernel starts to kill: the least of `MemAvailable` and what every memory
/// cgroup (version 1 or 2) above this process still allows; unlimited_bytes where nothing can be read.
[[nodiscard]] PINWARDEN_API std::size_t available_bytes() noexcept;

}  // namespace pinwarden
