// SPDX-License-Identifier: Apache-2.0
// Any text is either read as a leak report, which then survives being written and read again, or refused by name.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "report/report_format.hpp"
#include "report/report_reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace pinwarden::audit;
    try {
        const StoredReport report = read_report({reinterpret_cast<const char*>(data), size}, "input.json");
        if (read_report(write(report, ReportFormat::json), "again.json") != report) std::abort();
        for (const ReportFormat format : {ReportFormat::text, ReportFormat::junit, ReportFormat::sarif}) {
            if (write(report, format).empty()) std::abort();
        }
    } catch (const ReportError& error) {
        if (std::string_view(error.what()).find("input.json") == std::string_view::npos) std::abort();
    }
    return 0;
}
