// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Whether this process is a copy of the one that acquired something.
///
/// Page locks, registrations with a device and threads are not inherited over `fork`, so whatever owns one must do
/// nothing in the child. An owner keeps the generation in which it acquired and compares it before it releases.

#include <cstdint>

#include <pinwarden/core/export.hpp>

namespace pinwarden {

/// How many forks lie between this process and the first one that asked. Thread-safe; costs one load.
[[nodiscard]] PINWARDEN_API std::uint64_t fork_generation() noexcept;

}  // namespace pinwarden
