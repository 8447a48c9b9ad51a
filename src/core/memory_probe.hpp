// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Reads the kernel's memory figures below a given root directory, so that tests can show it any machine.

#include <cstddef>
#include <string>

#include <pinwarden/core/export.hpp>

namespace pinwarden::detail {

/// As kernel_locked_bytes(), with `root` in front of `/proc`.
[[nodiscard]] PINWARDEN_API std::size_t locked_bytes_under(const std::string& root);

/// As available_bytes(), with `root` in front of `/proc` and `/sys`.
[[nodiscard]] PINWARDEN_API std::size_t available_bytes_under(const std::string& root);

}  // namespace pinwarden::detail
