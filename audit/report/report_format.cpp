// SPDX-License-Identifier: Apache-2.0
#include "report/report_format.hpp"

#include <pinwarden/audit/leak_report.hpp>

namespace pinwarden::audit {

ReportFormat format_of(std::string_view file_name) noexcept {
    if (file_name.ends_with(".sarif") || file_name.ends_with(".sarif.json")) return ReportFormat::sarif;
    if (file_name.ends_with(".json")) return ReportFormat::json;
    if (file_name.ends_with(".xml")) return ReportFormat::junit;
    return ReportFormat::text;
}

std::string write(const StoredReport& report, ReportFormat format) {
    switch (format) {
        case ReportFormat::json: return write_json(report) + "\n";
        case ReportFormat::junit: return write_junit(report) + "\n";
        case ReportFormat::sarif: return write_sarif(report) + "\n";
        case ReportFormat::text: break;
    }
    return write_text(report) + "\n";
}

std::string to_text(const LeakReport& report) { return write_text(stored(report)); }
std::string to_json(const LeakReport& report) { return write_json(stored(report)); }
std::string to_junit(const LeakReport& report) { return write_junit(stored(report)); }
std::string to_sarif(const LeakReport& report) { return write_sarif(stored(report)); }

}  // namespace pinwarden::audit
