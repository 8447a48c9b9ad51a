// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// A scan's report as JUnit XML, which test dashboards read: each file a test case, each finding a failure of it.

#include "scan/driver/scan_report.hpp"

#include <filesystem>
#include <string>

namespace pinwarden::scan {

/// Files below `base` are named relative to it. A file without a pin call is a skipped case, one whose analysis failed
/// an error.
[[nodiscard]] std::string junit_report(const ScanReport& report, const std::filesystem::path& base);

}  // namespace pinwarden::scan
