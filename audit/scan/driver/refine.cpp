// SPDX-License-Identifier: Apache-2.0
#include "scan/driver/refine.hpp"

#include "scan/driver/fingerprint.hpp"
#include "scan/driver/suppression.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

namespace pinwarden::scan {

namespace {

/// Declarations of the auditor's own, which nobody can change.
constexpr std::string_view prelude_folder = "/pinwarden-prelude/";

bool is_wanted(const Finding& finding, const ScanOptions& options, const std::vector<ProjectFile>& projects) {
    const std::string& file = finding.location.file;
    if (file.starts_with(prelude_folder)) return false;
    bool raw_pins = options.require_handles;
    for (const ProjectFile& project : projects) {
        if (project.skips(file) || !project.wants(finding)) return false;
        if (finding.rule == "raw-pin" && is_in_folders(file, project.allowed_folders, {})) return false;
        raw_pins = raw_pins || (project.require_handles && project.covers(file));
    }
    return finding.rule != "raw-pin" || (raw_pins && !is_in_folders(file, options.allowed_folders, options.paths));
}

std::size_t apply_suppressions(std::vector<Finding>& findings, SourceText& text) {
    return std::erase_if(findings, [&](const Finding& finding) {
        return is_suppressed(text.lines_of(finding.location.file), finding.location.line, finding.rule);
    });
}

void add_reasonless_suppressions(std::vector<Finding>& findings, const ScanReport& report, SourceText& text) {
    std::set<std::string> files;
    for (const FileOutcome& file : report.files) {
        if (file.state == FileState::scanned) files.insert(file.file);
    }
    for (const Finding& finding : findings) files.insert(finding.location.file);
    for (const std::string& file : files) {
        std::vector<Finding> more = reasonless_suppressions(file, text.lines_of(file));
        std::move(more.begin(), more.end(), std::back_inserter(findings));
    }
}

}  // namespace

bool is_in_folders(const std::string& file, const std::vector<std::string>& folders,
                   const std::vector<std::filesystem::path>& roots) {
    namespace fs = std::filesystem;
    const auto is_below = [](const fs::path& path, const fs::path& folder) {
        const fs::path relative = path.lexically_relative(folder);
        return !relative.empty() && *relative.begin() != ".." && relative != ".";
    };
    const auto runs_through = [](const fs::path& path, const fs::path& folder) {
        return std::search(path.begin(), path.end(), folder.begin(), folder.end()) != path.end();
    };
    const fs::path path = fs::absolute(file).lexically_normal();
    for (const std::string& text : folders) {
        fs::path folder = fs::path(text).lexically_normal();
        if (!folder.has_filename()) folder = folder.parent_path();
        if (is_below(path, fs::absolute(folder).lexically_normal())) return true;
        for (const fs::path& root : roots) {
            const fs::path whole = fs::absolute(root).lexically_normal();
            if (is_below(path, whole) && runs_through(path.lexically_relative(whole).parent_path(), folder))
                return true;
        }
    }
    return false;
}

void refine(std::vector<Finding> findings, const ScanOptions& options, const ReportFilters& filters, SourceText& text,
            ScanReport& report) {
    add_reasonless_suppressions(findings, report, text);
    std::erase_if(findings, [&](const Finding& finding) { return !is_wanted(finding, options, filters.projects); });
    sort_and_unify(findings);
    report.suppressed = apply_suppressions(findings, text);

    const LinesOf lines_of = [&](const std::string& file) -> const std::vector<std::string>& {
        return text.lines_of(file);
    };
    const std::vector<std::string> fingerprints = fingerprints_of(findings, lines_of);
    for (std::size_t index = 0; index < findings.size(); ++index)
        report.findings.push_back({std::move(findings[index]), fingerprints[index]});

    report.known = std::erase_if(report.findings, [&](const ReportedFinding& finding) {
        return filters.known.contains(finding.fingerprint);
    });
    if (filters.changed) {
        report.not_changed = std::erase_if(
            report.findings, [&](const ReportedFinding& finding) { return !filters.changed->touches(finding); });
    }
}

}  // namespace pinwarden::scan
