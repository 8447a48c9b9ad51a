// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The text of scanned files, each read once.

#include <map>
#include <string>
#include <vector>

namespace pinwarden::scan {

/// Not thread-safe.
class SourceText {
public:
    /// The lines of `file`; none if it cannot be read. The reference holds as long as the object.
    const std::vector<std::string>& lines_of(const std::string& file);

private:
    std::map<std::string, std::vector<std::string>> files_;
};

/// The whole content of `file`; empty if it cannot be read.
[[nodiscard]] std::string text_of(const std::string& file);

}  // namespace pinwarden::scan
