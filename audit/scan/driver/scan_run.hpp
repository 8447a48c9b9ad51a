// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The scan itself: every file in a process of its own, the facts of all joined, suppressions applied.

#include "scan/driver/scan_options.hpp"
#include "scan/driver/scan_report.hpp"
#include "scan/driver/source_text.hpp"

#include <cstddef>
#include <functional>
#include <string>

namespace pinwarden::scan {

/// Told after each file how many are done, of how many, and which it was. Calls come from several threads,
/// one at a time.
using ScanProgress = std::function<void(std::size_t done, std::size_t all, const std::string& file)>;

/// Scans what `options` names. A file that crashes the analysis or runs over a limit is a line of the report.
/// @throws ConfigurationError if a path does not exist, there is nothing to scan, or the database is unusable.
[[nodiscard]] ScanReport run_scan(const ScanOptions& options, SourceText& text, const ScanProgress& progress);

}  // namespace pinwarden::scan
