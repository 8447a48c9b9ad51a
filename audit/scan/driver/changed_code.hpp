// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Which code changed since a revision, by Git's account.

#include "scan/finding.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pinwarden::scan {

/// Lines of files. What changed in a function changes the whole of it: a release that was taken out leaves a leak at
/// a line that nobody touched.
class ChangedCode {
public:
    /// Adds the changes of a diff whose paths start at `root`.
    void add_diff(std::string_view diff, const std::filesystem::path& root);
    /// Adds a whole file.
    void add_file(const std::filesystem::path& file);

    /// True if the place of the finding, or one on the way to it, changed.
    [[nodiscard]] bool touches(const Finding& finding) const;

private:
    using Range = std::pair<unsigned, unsigned>;  ///< first and last line
    [[nodiscard]] bool contains(const Location& at) const;

    std::map<std::string, std::vector<Range>> files_;
};

/// Asks Git what changed since `revision` in the repositories of `paths`, what is not committed and new files included.
/// @throws ConfigurationError if a path is in no repository, or the revision is unknown there.
[[nodiscard]] ChangedCode changed_since(const std::string& revision, const std::vector<std::filesystem::path>& paths);

}  // namespace pinwarden::scan
