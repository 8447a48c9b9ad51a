// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// A scan's report as SARIF 2.1.0, which code hosts show beside the code.

#include "scan/driver/scan_report.hpp"
#include "scan/driver/text_report.hpp"

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace pinwarden::scan {

/// The key of a result's fingerprint in `partialFingerprints`.
inline constexpr std::string_view fingerprint_name = "pinwardenFinding/v1";

/// As many results as code hosts take of one run; what is beyond is left out, and the report says so.
inline constexpr std::size_t most_sarif_results = 25000;

/// One run with the rules, the findings, their paths as code flows, and a notification for every file that failed.
/// Files below `base` are named relative to it, as `%SRCROOT%`.
/// @param version of the program, as `pinwarden version` shows it.
[[nodiscard]] std::string sarif_report(const ScanReport& report, const LinesOf& lines_of,
                                       const std::filesystem::path& base, const std::string& version);

}  // namespace pinwarden::scan
