// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The findings of an earlier scan, which a later one leaves out.

#include <filesystem>
#include <set>
#include <string>

namespace pinwarden::scan {

/// The fingerprints in a report that `pinwarden scan --format json` or `--format sarif` has written.
/// @throws ConfigurationError naming the file and what is wrong with it.
[[nodiscard]] std::set<std::string> read_baseline(const std::filesystem::path& file);

}  // namespace pinwarden::scan
