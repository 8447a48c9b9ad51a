// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The elements that a block of bytes holds.

#include <cstddef>
#include <type_traits>

#include <gsl/span>

namespace pinwarden::zero {

/// The bytes as elements of type T; the block is aligned for every scalar type, as device and host blocks
/// are.
/// @pre `bytes.size()` is a multiple of `sizeof(T)`
template <typename T>
    requires std::is_trivially_copyable_v<T>
[[nodiscard]] gsl::span<T> view_as(gsl::span<std::byte> bytes) {
    return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
}

/// @copydoc view_as
template <typename T>
    requires std::is_trivially_copyable_v<T>
[[nodiscard]] gsl::span<const T> view_as(gsl::span<const std::byte> bytes) {
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
}

}  // namespace pinwarden::zero
