// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Include folders for files that no compile database knows, guessed from the tree they stand in.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace pinwarden::scan {

/// The headers of some trees, and which folders a source of them needs. Not thread-safe.
class IncludeFolders {
public:
    /// Indexes the trees around `paths`: a folder's own tree, or for a file that of its project.
    explicit IncludeFolders(const std::vector<std::filesystem::path>& paths);

    /// The folders for `source`, nearest first: those that resolve the headers it includes, directly or
    /// through other headers of the tree, and the folders named `include` above it.
    [[nodiscard]] std::vector<std::string> folders_for(const std::filesystem::path& source);

private:
    struct Include {
        std::string name;
        bool quoted = false;
    };

    const std::vector<Include>& includes_of(const std::filesystem::path& file);
    [[nodiscard]] std::filesystem::path resolve(const Include& include,
                                                const std::filesystem::path& from) const;

    std::map<std::string, std::vector<std::filesystem::path>> headers_;  ///< by file name
    std::map<std::string, std::vector<Include>> includes_;               ///< by file, as far as it was read
};

}  // namespace pinwarden::scan
