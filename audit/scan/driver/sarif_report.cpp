// SPDX-License-Identifier: Apache-2.0
#include "scan/driver/sarif_report.hpp"

#include "scan/driver/report_paths.hpp"
#include "scan/driver/rules.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace pinwarden::scan {

namespace {

using nlohmann::json;

constexpr const char* schema = "https://json.schemastore.org/sarif-2.1.0.json";
constexpr const char* root_name = "SRCROOT";

/// The column as a reader counts it: one for each code point of UTF-8, not for each byte.
unsigned column_in_code_points(const std::string& line, unsigned column) {
    const std::size_t end = std::min<std::size_t>(column - 1, line.size());
    const auto is_start = [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; };
    return static_cast<unsigned>(
               std::count_if(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(end), is_start)) + 1;
}

class Writer {
public:
    Writer(const LinesOf& lines_of, const std::filesystem::path& base) : lines_of_(lines_of), base_(base) {}

    [[nodiscard]] json artifact(const std::string& file) const {
        const std::string shown = shown_path(file, base_);
        if (shown != file) return {{"uri", uri_path(shown)}, {"uriBaseId", root_name}};
        return {{"uri", "file://" + uri_path(file)}};
    }

    [[nodiscard]] json place(const Location& at) const {
        json physical = {{"artifactLocation", artifact(at.file)}};
        if (at.line != 0) {
            physical["region"]["startLine"] = at.line;
            const std::vector<std::string>& lines = lines_of_(at.file);
            if (at.column != 0) {
                physical["region"]["startColumn"] =
                    at.line <= lines.size() ? column_in_code_points(lines[at.line - 1], at.column) : at.column;
            }
        }
        return {{"physicalLocation", std::move(physical)}};
    }

    [[nodiscard]] json result(const ReportedFinding& finding) const {
        json location = place(finding.location);
        if (!finding.function.empty()) {
            location["logicalLocations"] =
                json::array({{{"fullyQualifiedName", finding.function}, {"kind", "function"}}});
        }
        json out = {{"ruleId", finding.rule},
                    {"level", finding.confidence == Confidence::certain ? "error" : "warning"},
                    {"message", {{"text", finding.message}}},
                    {"locations", json::array({std::move(location)})},
                    {"partialFingerprints", {{std::string(fingerprint_name), finding.fingerprint}}},
                    {"properties", {{"confidence", to_string(finding.confidence)}}}};
        if (const std::size_t index = rule_index(finding.rule); index < all_rules().size())
            out["ruleIndex"] = index;
        if (!finding.notes.empty()) out["codeFlows"] = json::array({code_flow(finding)});
        return out;
    }

private:
    [[nodiscard]] json code_flow(const Finding& finding) const {
        json steps = json::array();
        for (const PathNote& note : finding.notes) {
            json location = place(note.location);
            location["message"]["text"] = note.text;
            steps.push_back({{"location", std::move(location)}});
        }
        return {{"threadFlows", json::array({{{"locations", std::move(steps)}}})}};
    }

    const LinesOf& lines_of_;
    const std::filesystem::path& base_;
};

json described_rules() {
    json rules = json::array();
    for (const Rule& rule : all_rules()) {
        const std::string page = fmt::format("{} {} See docs/scan/rules/{}.md.", rule.title, rule.harm, rule.id);
        rules.push_back({{"id", rule.id},
                         {"shortDescription", {{"text", rule.title}}},
                         {"fullDescription", {{"text", rule.harm}}},
                         {"help", {{"text", page}}},
                         {"defaultConfiguration", {{"level", "warning"}}},
                         {"properties", {{"tags", json::array({"pinned-memory", "correctness"})}}}});
    }
    return rules;
}

json notification(const std::string& level, const std::string& text) {
    return {{"level", level}, {"message", {{"text", text}}}};
}

}  // namespace

std::string sarif_report(const ScanReport& report, const LinesOf& lines_of, const std::filesystem::path& base,
                         const std::string& version) {
    const Writer writer(lines_of, base);
    json notifications = json::array();
    for (const FileOutcome& file : report.files) {
        if (!is_failure(file.state)) continue;
        json failure = notification("error", fmt::format("{}: {}", state_word(file.state), file.detail));
        failure["locations"] = json::array({writer.place({file.file, 0, 0})});
        notifications.push_back(std::move(failure));
    }
    const std::size_t count = std::min(report.findings.size(), most_sarif_results);
    if (count < report.findings.size()) {
        notifications.push_back(notification(
            "warning", fmt::format("{} findings of {} are left out", report.findings.size() - count,
                                   report.findings.size())));
    }
    json results = json::array();
    for (std::size_t index = 0; index < count; ++index) results.push_back(writer.result(report.findings[index]));

    const json driver = {{"name", "pinwarden scan"}, {"version", version}, {"rules", described_rules()}};
    json run = {{"tool", {{"driver", driver}}},
                {"columnKind", "unicodeCodePoints"},
                {"invocations", json::array({{{"executionSuccessful", report.failures() == 0},
                                              {"toolExecutionNotifications", std::move(notifications)}}})},
                {"results", std::move(results)}};
    if (!base.empty()) run["originalUriBaseIds"][root_name]["uri"] = "file://" + uri_path(base.string()) + "/";
    const json document = {{"$schema", schema}, {"version", "2.1.0"}, {"runs", json::array({std::move(run)})}};
    return document.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace pinwarden::scan
