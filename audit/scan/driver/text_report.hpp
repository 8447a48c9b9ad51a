// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// A scan's report for people, in the style of the compiler's diagnostics.

#include "scan/driver/scan_report.hpp"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace pinwarden::scan {

/// Gives the lines of a file; none if it cannot be read.
using LinesOf = std::function<const std::vector<std::string>&(const std::string& file)>;

struct TextStyle {
    bool colour = false;
    std::filesystem::path base;  ///< files below it are shown relative to it; empty: as they are
};

/// Findings with source line, caret and numbered path notes, then files that failed, then the summary.
[[nodiscard]] std::string text_report(const ScanReport& report, const LinesOf& lines_of,
                                      const TextStyle& style);

/// The last line of the report.
[[nodiscard]] std::string summary_line(const ScanReport& report);

}  // namespace pinwarden::scan
