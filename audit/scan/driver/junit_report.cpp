// SPDX-License-Identifier: Apache-2.0
#include "scan/driver/junit_report.hpp"

#include "scan/driver/report_paths.hpp"

#include <fmt/format.h>

#include <map>
#include <string_view>

namespace pinwarden::scan {

namespace {

/// Text for XML 1.0. Control characters have no place there, not even escaped, nor have bytes that are no UTF-8: they
/// become question marks.
std::string escaped(std::string_view text) {
    std::string out;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const auto byte = static_cast<unsigned char>(text[at]);
        std::size_t length = 1;
        switch (text[at]) {
            case '&': out += "&amp;"; continue;
            case '<': out += "&lt;"; continue;
            case '>': out += "&gt;"; continue;
            case '"': out += "&quot;"; continue;
            case '\n': out += "&#10;"; continue;
            case '\t': out += "&#9;"; continue;
            default: break;
        }
        if (byte >= 0x80) length = byte >= 0xF0 && byte < 0xF5 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC2 ? 2 : 0;
        if (byte >= 0xF5) length = 0;
        bool valid = byte >= 0x20 && byte != 0x7F && length != 0 && at + length <= text.size();
        for (std::size_t more = 1; valid && more < length; ++more)
            valid = (static_cast<unsigned char>(text[at + more]) & 0xC0U) == 0x80U;
        if (!valid) {
            out += '?';
            continue;
        }
        out += text.substr(at, length);
        at += length - 1;
    }
    return out;
}

std::string failure(const ReportedFinding& finding, const std::filesystem::path& base) {
    const auto line_of = [&](const Location& at) {
        return fmt::format("{}:{}:{}", shown_path(at.file, base), at.line, at.column);
    };
    std::string text = line_of(finding.location) + ": " + finding.message;
    int number = 0;
    for (const PathNote& note : finding.notes)
        text += fmt::format("\n({}) {}: {}", ++number, line_of(note.location), note.text);
    return fmt::format("   <failure type=\"{}\" message=\"{}\">{}</failure>\n", escaped(finding.rule),
                       escaped(fmt::format("line {}: {}", finding.location.line, finding.message)), escaped(text));
}

}  // namespace

std::string junit_report(const ScanReport& report, const std::filesystem::path& base) {
    std::map<std::string, std::string> cases;
    for (const FileOutcome& file : report.files) {
        std::string& inside = cases[file.file];
        if (is_failure(file.state)) {
            inside += fmt::format("   <error type=\"{}\" message=\"{}\"/>\n", state_word(file.state),
                                  escaped(file.detail));
        } else if (file.state == FileState::skipped) {
            inside += "   <skipped message=\"no pin call\"/>\n";
        }
    }
    // A finding may lie in a header, which is no file of the scan by itself.
    for (const ReportedFinding& finding : report.findings) cases[finding.location.file] += failure(finding, base);

    std::string body;
    for (const auto& [file, inside] : cases) {
        const std::string name = escaped(shown_path(file, base));
        body += fmt::format("  <testcase classname=\"pinwarden.scan\" name=\"{0}\" file=\"{0}\"", name);
        body += inside.empty() ? "/>\n" : ">\n" + inside + "  </testcase>\n";
    }
    const std::string counts =
        fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"", cases.size(),
                    report.findings.size(), report.failures(), report.count(FileState::skipped));
    return fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {0}>\n <testsuite name=\"pinwarden "
                       "scan\" {0}>\n{1} </testsuite>\n</testsuites>\n",
                       counts, body);
}

}  // namespace pinwarden::scan
