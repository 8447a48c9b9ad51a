// SPDX-License-Identifier: Apache-2.0
#include "scan/driver/text_report.hpp"

#include "scan/driver/report_paths.hpp"

#include <fmt/format.h>

#include <string_view>

namespace pinwarden::scan {

namespace {

constexpr std::string_view bold = "\033[1m";
constexpr std::string_view magenta = "\033[1;35m";
constexpr std::string_view grey = "\033[1;30m";
constexpr std::string_view red = "\033[1;31m";
constexpr std::string_view green = "\033[1;32m";

class Writer {
public:
    Writer(const LinesOf& lines_of, const TextStyle& style) : lines_of_(lines_of), style_(style) {}

    void finding(const Finding& finding) {
        head(finding.location, magenta, "warning",
             painted(bold, fmt::format("{} [{}, {}]", finding.message, finding.rule,
                                       to_string(finding.confidence))));
        int number = 0;
        for (const PathNote& note : finding.notes)
            head(note.location, grey, "note", fmt::format("({}) {}", ++number, note.text));
    }

    void failure(const FileOutcome& file) {
        out_ += fmt::format("{}: {} {}{}{}\n", painted(bold, shown_path(file.file, style_.base)),
                            painted(red, "error:"), state_word(file.state), file.detail.empty() ? "" : ": ",
                            file.detail);
    }

    std::string take() { return std::move(out_); }

private:
    [[nodiscard]] std::string painted(std::string_view colour, const std::string& text) const {
        return style_.colour ? fmt::format("{}{}\033[0m", colour, text) : text;
    }

    void head(const Location& at, std::string_view colour, const std::string& kind, const std::string& text) {
        const std::string place = at.line == 0
                                      ? fmt::format("{}:", shown_path(at.file, style_.base))
                                      : fmt::format("{}:{}:{}:", shown_path(at.file, style_.base), at.line, at.column);
        out_ += fmt::format("{} {} {}\n", painted(bold, place), painted(colour, kind + ":"), text);
        source(at);
    }

    void source(const Location& at) {
        const std::vector<std::string>& lines = lines_of_(at.file);
        if (at.line == 0 || at.line > lines.size()) return;
        std::string line = lines[at.line - 1];
        if (!line.empty() && line.back() == '\r') line.pop_back();
        out_ += fmt::format("{:5} | {}\n", at.line, line);
        if (at.column == 0 || at.column > line.size() + 1) return;
        // Tabs stay tabs, so that the caret stands below its column whatever their width.
        std::string indent = line.substr(0, at.column - 1);
        for (char& letter : indent) {
            if (letter != '\t') letter = ' ';
        }
        out_ += fmt::format("      | {}{}\n", indent, painted(green, "^"));
    }

    const LinesOf& lines_of_;
    const TextStyle& style_;
    std::string out_;
};

std::string counted(std::size_t count, std::string_view one, std::string_view many) {
    return fmt::format("{} {}", count, count == 1 ? one : many);
}

}  // namespace

std::string summary_line(const ScanReport& report) {
    std::string line = counted(report.files.size(), "file", "files") + ": " +
                       fmt::format("{} scanned, {} skipped (no pin call), {} crashed",
                                   report.count(FileState::scanned), report.count(FileState::skipped),
                                   report.failures());
    line += "; " + counted(report.findings.size(), "finding", "findings");
    if (report.suppressed != 0) line += fmt::format(", {} suppressed", report.suppressed);
    if (report.known != 0) line += fmt::format(", {} in the baseline", report.known);
    if (report.not_changed != 0) line += fmt::format(", {} in unchanged code", report.not_changed);
    return line + ".\n";
}

std::string text_report(const ScanReport& report, const LinesOf& lines_of, const TextStyle& style) {
    Writer writer(lines_of, style);
    for (const Finding& finding : report.findings) writer.finding(finding);
    for (const FileOutcome& file : report.files) {
        if (is_failure(file.state)) writer.failure(file);
    }
    return writer.take() + summary_line(report);
}

}  // namespace pinwarden::scan
