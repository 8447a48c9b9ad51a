// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// From everything that the analysis found to what the report says.

#include "scan/driver/changed_code.hpp"
#include "scan/driver/project_file.hpp"
#include "scan/driver/scan_options.hpp"
#include "scan/driver/scan_report.hpp"
#include "scan/driver/source_text.hpp"
#include "scan/finding.hpp"

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace pinwarden::scan {

/// What takes findings out of a report, apart from the options themselves.
struct ReportFilters {
    std::vector<ProjectFile> projects;
    std::set<std::string> known;         ///< fingerprints that the baseline has
    std::optional<ChangedCode> changed;  ///< only findings in this code
};

/// Puts those of `findings` into `report`, whose files are known already, that the options, the project's settings,
/// the comments in the sources, the baseline and the changes asked about leave; sorted, with their fingerprints.
/// Counts what comments, baseline and changes take out.
void refine(std::vector<Finding> findings, const ScanOptions& options, const ReportFilters& filters, SourceText& text,
            ScanReport& report);

/// True if `file` lies in one of `folders`: below it, or, for relative folders, in one that is so called
/// below one of `roots`.
[[nodiscard]] bool is_in_folders(const std::string& file, const std::vector<std::string>& folders,
                                 const std::vector<std::filesystem::path>& roots);

}  // namespace pinwarden::scan
