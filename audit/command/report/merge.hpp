// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Joins the reports of the processes of one job into one report.

#include "report/stored_report.hpp"

#include <string>
#include <vector>

namespace pinwarden::command {

/// A report and the file it was read from.
struct NamedReport {
    std::string file;
    audit::StoredReport report;
};

/// One report of all processes: counts, peaks and streams are added up, each pin says whose it is. What was merged
/// before may be merged again. A process whose report does not name it is named after its file.
/// @throws audit::ReportError if two reports are of one process: its pins would be counted twice.
[[nodiscard]] audit::StoredReport merge_reports(std::vector<NamedReport> reports);

}  // namespace pinwarden::command
