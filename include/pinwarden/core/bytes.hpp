// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Arithmetic on sizes, all of it checked, and the sizes the kernel works in.

#include <cstddef>
#include <string>

#include <pinwarden/core/export.hpp>

namespace pinwarden {

/// The size of a page in bytes; a power of two.
[[nodiscard]] PINWARDEN_API std::size_t page_bytes() noexcept;

/// `count * element_bytes`.
/// @throws SizeError if the product does not fit into `std::size_t`.
[[nodiscard]] PINWARDEN_API std::size_t checked_bytes(std::size_t count, std::size_t element_bytes);

/// `bytes` rounded up to a multiple of `granule`, a power of two.
/// @throws SizeError if the result does not fit into `std::size_t`.
[[nodiscard]] PINWARDEN_API std::size_t round_up(std::size_t bytes, std::size_t granule);

/// A size for people: the exact number, and in brackets the nearest binary unit, as in `8388608 bytes (8.0 MiB)`.
[[nodiscard]] PINWARDEN_API std::string format_bytes(std::size_t bytes);

}  // namespace pinwarden
