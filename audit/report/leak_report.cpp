// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/audit/leak_report.hpp>

#include <pinwarden/audit/registry.hpp>
#include <pinwarden/core/process_memory.hpp>

#include <utility>

namespace pinwarden::audit {

Counts count(const std::vector<PinRecord>& records) noexcept {
    Counts counts;
    for (const PinRecord& record : records) {
        Tally& tally = counts.of(record.state);
        tally.pins += 1;
        tally.bytes += record.bytes;
        tally.locked_bytes += record.locked_bytes;
    }
    return counts;
}

LeakReport LeakReport::of_process() {
    const Registry& registry = Registry::instance();
    LeakReport report;
    report.records = registry.snapshot();
    report.counts = count(report.records);
    report.counts.left_to_system = registry.counts().left_to_system;
    report.peak_locked_bytes = registry.peak_locked_bytes();
    report.kernel_locked_bytes = pinwarden::kernel_locked_bytes();
    report.fallbacks = registry.fallbacks();
    return report;
}

LeakError::LeakError(LeakReport report) : Error(to_text(report)), report_(std::move(report)) {}

}  // namespace pinwarden::audit
