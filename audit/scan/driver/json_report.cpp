// SPDX-License-Identifier: Apache-2.0
#include "scan/driver/json_report.hpp"

#include <nlohmann/json.hpp>

#include <utility>

namespace pinwarden::scan {

std::string json_report(const ScanReport& report) {
    nlohmann::json files = nlohmann::json::array();
    for (const FileOutcome& file : report.files) {
        files.push_back({{"file", file.file},
                         {"state", state_word(file.state)},
                         {"detail", file.detail},
                         {"errors", file.errors},
                         {"missing_headers", file.missing_headers}});
    }
    nlohmann::json findings = nlohmann::json::array();
    for (const ReportedFinding& finding : report.findings) {
        nlohmann::json entry = static_cast<const Finding&>(finding);
        entry["fingerprint"] = finding.fingerprint;
        findings.push_back(std::move(entry));
    }
    const nlohmann::json document = {{"version", 1},
                                     {"findings", std::move(findings)},
                                     {"files", std::move(files)},
                                     {"summary",
                                      {{"scanned", report.count(FileState::scanned)},
                                       {"skipped", report.count(FileState::skipped)},
                                       {"crashed", report.failures()},
                                       {"suppressed", report.suppressed},
                                       {"known", report.known},
                                       {"not_changed", report.not_changed},
                                       {"findings", report.findings.size()}}}};
    // Sources need not be UTF-8; a stray byte in a message must not cost the report.
    return document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace pinwarden::scan
