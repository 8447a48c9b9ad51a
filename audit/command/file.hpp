// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Reading files whole, with errors that say which file, what the system answered and what to do.

#include <cstddef>
#include <filesystem>
#include <string>

namespace pinwarden::command {

/// The bytes of a regular file, a pipe or a device, to its end.
/// @param what names the file's role in messages, `the text` for example.
/// @throws ConfigurationError if it is missing, a directory, unreadable, or larger than `largest_bytes`.
[[nodiscard]] std::string read_file(const std::filesystem::path& file, const std::string& what,
                                    std::size_t largest_bytes);

}  // namespace pinwarden::command
