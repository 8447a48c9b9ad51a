// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Any compiler's command line, reduced to what decides how a source file is read.

#include <string>
#include <string_view>
#include <vector>

namespace pinwarden::scan {

/// The words of a shell command line: quotes and backslashes taken off, nothing expanded.
[[nodiscard]] std::vector<std::string> split_command(std::string_view command);

/// The arguments of `command`, the compiler first, that clang needs to read the same source: macros, include
/// folders, standard and language. Code generation, outputs, warnings and what only nvcc knows are left out;
/// nvcc's spellings are translated.
[[nodiscard]] std::vector<std::string> translate_command(const std::vector<std::string>& command);

}  // namespace pinwarden::scan
