// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The system calls that the native backend makes, as a table, so that a test can make each of them fail.

#include <cstddef>

#include <pinwarden/core/export.hpp>

namespace pinwarden::detail {

/// Each answers 0 or an address on success, and otherwise sets `errno`.
struct KernelCalls {
    void* (*map_pages)(std::size_t bytes);               ///< private anonymous pages; MAP_FAILED on failure
    int (*unmap_pages)(void* address, std::size_t bytes);
    int (*lock_pages)(void* address, std::size_t bytes);
    int (*unlock_pages)(void* address, std::size_t bytes);
    int (*prefer_huge_pages)(void* address, std::size_t bytes);
};

/// The kernel's own.
[[nodiscard]] PINWARDEN_API const KernelCalls& kernel_calls() noexcept;

}  // namespace pinwarden::detail
