// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The files that a scan is about.

#include <filesystem>
#include <vector>

namespace pinwarden::scan {

/// True for the endings of C, C++, CUDA and HIP sources; headers are analysed with the sources that include
/// them.
[[nodiscard]] bool is_source(const std::filesystem::path& file);

/// True for the endings of headers.
[[nodiscard]] bool is_header(const std::filesystem::path& file);

/// All regular files under `folder`. Hidden folders and build folders (those with a CMakeCache.txt) are left
/// out, and what cannot be read is passed over.
[[nodiscard]] std::vector<std::filesystem::path> files_below(const std::filesystem::path& folder);

/// The sources that `paths` name: a file by itself, whatever its ending, a folder by the sources below it.
/// Absolute, sorted, each once.
/// @throws ConfigurationError naming a path that does not exist.
[[nodiscard]] std::vector<std::filesystem::path> collect_sources(
    const std::vector<std::filesystem::path>& paths);

}  // namespace pinwarden::scan
