// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// `.pinwarden.yaml`: what a project tells the auditor, in a file beside its code.
///
/// ```yaml
/// apis:                       # calls of the project's own that pin and release
///   - {name: acme_pin, kind: pin-out, family: acme, size-argument: 1}
///   - {name: acme_unpin, kind: release, family: acme}
/// skip: [third_party, "*_generated.cpp"]
/// require-handles: true
/// allow-pins-in: [src/backend]
/// rules:
///   leak-on-throw: certain    # `all`, `certain` or `off`
/// ```
///
/// Paths are relative to the folder of the file.

#include "scan/api_table.hpp"
#include "scan/finding.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace pinwarden::scan {

/// Which findings of a rule are wanted.
enum class RuleSetting { all, certain, off };

struct ProjectFile {
    std::filesystem::path folder;  ///< what it is about: this folder and those below it
    std::vector<Api> apis;
    std::vector<std::string> skip;           ///< paths, folders and patterns
    std::vector<std::string> allowed_folders;  ///< absolute
    bool require_handles = false;
    std::map<std::string, RuleSetting> rules;

    /// True if `file` is in the folder, which what the file says is about.
    [[nodiscard]] bool covers(const std::filesystem::path& file) const;
    /// True if `file` is one that is not to be scanned.
    [[nodiscard]] bool skips(const std::filesystem::path& file) const;
    /// True if the settings of rules leave `finding` in the report.
    [[nodiscard]] bool wants(const Finding& finding) const;
};

/// The name that find_project_files() looks for.
inline constexpr const char* project_file_name = ".pinwarden.yaml";

/// Reads one.
/// @throws ConfigurationError with file, line and column of what is wrong.
[[nodiscard]] ProjectFile read_project_file(const std::filesystem::path& file);

/// Those that hold for `paths`: for each the nearest one in its folder or above, up to the folder of its repository.
/// @throws ConfigurationError as read_project_file().
[[nodiscard]] std::vector<ProjectFile> find_project_files(const std::vector<std::filesystem::path>& paths);

}  // namespace pinwarden::scan
