// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/audit/leak_report.hpp>

#include <pinwarden/audit/registry.hpp>
#include <pinwarden/core/process_memory.hpp>

#include <algorithm>
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

std::vector<StreamTally> LeakReport::in_flight_by_stream() const {
    std::vector<StreamTally> tallies;
    for (const PinRecord& record : records) {
        if (record.state != PinState::in_flight) continue;
        for (const StreamUse& use : record.streams) {
            auto place = std::ranges::lower_bound(tallies, use.queue, {}, &StreamTally::queue);
            if (place == tallies.end() || place->queue != use.queue) {
                place = tallies.insert(place, {.queue = use.queue, .stream = use.name});
            }
            place->pins += 1;
            place->bytes += record.bytes;
        }
    }
    return tallies;
}

LeakError::LeakError(LeakReport report) : Error(to_text(report)), report_(std::move(report)) {}

}  // namespace pinwarden::audit
