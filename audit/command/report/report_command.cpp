// SPDX-License-Identifier: Apache-2.0
#include "command/exit_status.hpp"
#include "command/file.hpp"
#include "command/output_file.hpp"
#include "command/report/difference.hpp"
#include "command/report/merge.hpp"
#include "command/subcommand.hpp"
#include "report/report_format.hpp"
#include "report/report_reader.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pinwarden::command {

namespace {

/// What the command lines of the three subcommands say.
struct ReportRequest {
    std::vector<std::string> files{};
    std::string format{};  ///< empty: as the output's name says
    std::filesystem::path output{};
    std::string source_root{};
};

audit::StoredReport read(const std::string& file) {
    constexpr std::size_t largest = std::size_t{1} << 30U;
    return audit::read_report(read_file(file, "the report", largest), file);
}

void put(const ReportRequest& request, const std::string& text) {
    if (request.output.empty()) {
        write_to_standard_output(text);
    } else {
        OutputFile(request.output, "the report").commit(text);
    }
}

audit::ReportFormat format_of(const ReportRequest& request, audit::ReportFormat otherwise) {
    if (request.format.empty()) {
        return request.output.empty() ? otherwise : audit::format_of(request.output.string());
    }
    return std::ranges::find(audit::report_format_names, request.format, &audit::ReportFormatName::name)->format;
}

/// Makes names of files below `root` relative to it, as code review knows them.
void make_relative(audit::StoredReport& report, std::string root) {
    if (root.empty()) return;
    if (!root.ends_with('/')) root += '/';
    const auto shorten = [&root](std::string& file) {
        if (file.starts_with(root)) file.erase(0, root.size());
    };
    for (audit::StoredPin& pin : report.pins) {
        shorten(pin.file);
        for (audit::StoredFrame& frame : pin.stack) shorten(frame.file);
    }
}

int put_report(const ReportRequest& request, audit::StoredReport report, audit::ReportFormat otherwise) {
    make_relative(report, request.source_root);
    put(request, audit::write(report, format_of(request, otherwise)));
    return report.is_clean() ? exit_clean : exit_findings;
}

int merge(const ReportRequest& request) {
    std::vector<NamedReport> reports;
    for (const std::string& file : request.files) reports.push_back({file, read(file)});
    return put_report(request, merge_reports(std::move(reports)), audit::ReportFormat::json);
}

int show(const ReportRequest& request) {
    return put_report(request, read(request.files.at(0)), audit::ReportFormat::text);
}

int diff(const ReportRequest& request) {
    const std::string& before = request.files.at(0);
    const std::string& after = request.files.at(1);
    audit::StoredReport earlier = read(before);
    audit::StoredReport later = read(after);
    make_relative(earlier, request.source_root);
    make_relative(later, request.source_root);
    const std::vector<Change> changes = compare(earlier, later);
    const bool as_json = format_of(request, audit::ReportFormat::text) == audit::ReportFormat::json;
    put(request, as_json ? changes_json(changes, before, after) : changes_text(changes, before, after));
    return is_worse(changes) ? exit_findings : exit_clean;
}

using Work = int (*)(const ReportRequest&);

/// Adds one of the three; the caller adds what names its files.
CLI::App& add(CLI::App& report, const char* name, const char* description, const std::vector<std::string>& formats,
              const std::shared_ptr<ReportRequest>& request, Work work, int& exit_status) {
    CLI::App& app = *report.add_subcommand(name, description);
    app.add_option("--format", request->format, "How it is written (default: as the ending of --output says)")
        ->check(CLI::IsMember(formats));
    app.add_option("--output", request->output, "Write it there, not to the standard output")->type_name("FILE");
    app.add_option("--source-root", request->source_root, "Name source files below this folder relative to it")
        ->type_name("DIR");
    app.callback([request, work, &exit_status] { exit_status = work(*request); });
    return app;
}

}  // namespace

void add_report(CLI::App& program, int& exit_status) {
    CLI::App& report = *program.add_subcommand("report", "Join, show and compare the leak reports of programs");
    report.require_subcommand(1);
    std::vector<std::string> formats;
    for (const audit::ReportFormatName& each : audit::report_format_names) formats.emplace_back(each.name);

    const auto merging = std::make_shared<ReportRequest>();
    add(report, "merge", "Join the reports of many processes into one (JSON unless told otherwise)", formats,
        merging, &merge, exit_status)
        .add_option("FILES", merging->files, "Reports as JSON, one of each process")
        ->required();
    const auto showing = std::make_shared<ReportRequest>();
    add(report, "show", "Show a report, as text unless told otherwise", formats, showing, &show, exit_status)
        .add_option("FILE", showing->files, "A report as JSON")
        ->required()
        ->expected(1);
    const auto comparing = std::make_shared<ReportRequest>();
    add(report, "diff", "Compare the reports of two runs: what is new, grown, shrunk or gone", {"text", "json"},
        comparing, &diff, exit_status)
        .add_option("BEFORE AFTER", comparing->files, "The earlier report and the later one, as JSON")
        ->required()
        ->expected(2);
}

}  // namespace pinwarden::command
