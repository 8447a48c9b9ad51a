// SPDX-License-Identifier: Apache-2.0
#include "scan/driver/json_report.hpp"

#include <nlohmann/json.hpp>

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
    const nlohmann::json document = {{"version", 1},
                                     {"findings", report.findings},
                                     {"files", std::move(files)},
                                     {"summary",
                                      {{"scanned", report.count(FileState::scanned)},
                                       {"skipped", report.count(FileState::skipped)},
                                       {"crashed", report.failures()},
                                       {"suppressed", report.suppressed},
                                       {"findings", report.findings.size()}}}};
    // Sources need not be UTF-8; a stray byte in a message must not cost the report.
    return document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace pinwarden::scan
