// SPDX-License-Identifier: Apache-2.0
#include "registry/selection_report.hpp"

#include <pinwarden/audit/registry.hpp>
#include <pinwarden/core/process_memory.hpp>
#include <pinwarden/core/release_failure.hpp>

#include <string>

namespace pinwarden::audit {

LeakReport report_of(const Selection& selection) {
    const Registry& registry = Registry::instance();
    LeakReport report;
    report.records = Ledger::instance().records(selection);
    report.counts = count(report.records);
    report.peak_locked_bytes = registry.peak_locked_bytes();
    report.kernel_locked_bytes = kernel_locked_bytes();
    report.fallbacks = registry.fallbacks();
    return report;
}

void complain_if_live(const Selection& selection, std::string_view name,
                      std::string_view text_without_memory) noexcept {
    const Tally live = Ledger::instance().live(selection);
    if (live.pins == 0) return;
    try {
        LeakReport report = report_of(selection);
        report.scope = name;
        const std::string text = to_text(report);
        report_release_failure({.text = text, .bytes = live.locked_bytes});
    } catch (...) {
        report_release_failure({.text = text_without_memory, .bytes = live.locked_bytes});
    }
}

}  // namespace pinwarden::audit
