// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// `compile_commands.json`: how the build compiles each file.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace pinwarden::scan {

struct CompileCommand {
    std::string directory;
    std::vector<std::string> arguments;  ///< translated for clang, without compiler and file
};

/// File to command; files by their absolute, normal path. Of several commands for a file the first counts.
using CompileDatabase = std::map<std::string, CompileCommand>;

/// Reads `compile_commands.json` in `build_directory`, or the file itself if it is given.
/// @throws ConfigurationError that says what is wrong where, and what to do.
[[nodiscard]] CompileDatabase read_compile_database(const std::filesystem::path& build_directory);

}  // namespace pinwarden::scan
