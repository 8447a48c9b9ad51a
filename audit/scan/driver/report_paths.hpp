// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// How reports name files.

#include <filesystem>
#include <string>

namespace pinwarden::scan {

/// `file` as seen from `base`; unchanged if it is not below it or `base` is empty.
[[nodiscard]] std::string shown_path(const std::string& file, const std::filesystem::path& base);

/// A path as part of a URI: what may not stand there is written as `%XX`.
[[nodiscard]] std::string uri_path(const std::string& path);

}  // namespace pinwarden::scan
