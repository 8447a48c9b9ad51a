// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// A scan's report for programs.

#include "scan/driver/scan_report.hpp"

#include <string>

namespace pinwarden::scan {

/// One JSON object with `version`, `findings`, `files` and `summary`, and a line end behind it.
[[nodiscard]] std::string json_report(const ScanReport& report);

}  // namespace pinwarden::scan
