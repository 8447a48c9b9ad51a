// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// What a scan is asked to do, as plain data.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace pinwarden::scan {

struct ScanOptions {
    std::vector<std::filesystem::path> paths;   ///< files and folders; empty: the database's files
    std::filesystem::path build_directory;      ///< holds compile_commands.json; empty: no database
    std::vector<std::string> extra_arguments;   ///< given to the compiler for every file
    std::string cuda_path;                      ///< root of a toolkit; empty: declarations of our own
    std::vector<std::string> allowed_folders;   ///< folders in which raw pins are no finding
    bool require_handles = false;               ///< report raw pins at all
    std::filesystem::path project_file;         ///< a .pinwarden.yaml; empty: those beside the paths
    std::filesystem::path baseline;             ///< report whose findings are left out; empty: none
    std::string changed_since;                  ///< only findings in code that changed since; empty: all
    std::uint64_t jobs = 1;                     ///< files analysed at a time
    std::uint64_t timeout_seconds = 120;        ///< for one file
    std::uint64_t memory_mib = 4096;            ///< for one file
    std::vector<std::string> child_command;     ///< the program that analyses one file, with its arguments
};

}  // namespace pinwarden::scan
