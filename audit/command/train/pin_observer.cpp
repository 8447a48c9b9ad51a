// SPDX-License-Identifier: Apache-2.0
#include "command/train/pin_observer.hpp"

#include <pinwarden/audit/registry.hpp>
#include <pinwarden/core/process_memory.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace pinwarden::command {

std::vector<LabelledTally> tally_by_label(const std::vector<audit::PinRecord>& records) {
    std::map<std::pair<std::string, audit::PinState>, audit::Tally> tallies;
    for (const audit::PinRecord& record : records) {
        audit::Tally& tally = tallies[{record.label, record.state}];
        ++tally.pins;
        tally.bytes += record.bytes;
        tally.locked_bytes += record.locked_bytes;
    }
    std::vector<LabelledTally> result;
    for (const auto& [key, tally] : tallies) result.push_back({key.first, key.second, tally});
    return result;
}

PinObserver::PinObserver() : registry_at_start_(audit::Registry::instance().counts().locked_bytes()) {
    audit::Registry::instance().reset_peak();
    const std::size_t locked = kernel_locked_bytes();
    kernel_locked_ = {.before = locked, .peak = locked, .after = locked};
    records_at_peak_ = audit::Registry::instance().snapshot();
    highest_registry_bytes_ = registry_at_start_;
}

void PinObserver::observe() {
    const audit::Registry& registry = audit::Registry::instance();
    const std::size_t counted = registry.counts().locked_bytes();
    const std::size_t locked = kernel_locked_bytes();
    ++observations_;
    kernel_locked_.peak = std::max(kernel_locked_.peak, locked);
    kernel_locked_.after = locked;
    // What was locked at the start, by whomever, is on both sides of the balance.
    if (counted + kernel_locked_.before != locked + registry_at_start_ && !disagreement_) {
        disagreement_ = Disagreement{.registry_bytes = counted, .kernel_bytes = locked};
    }
    if (counted > highest_registry_bytes_) {
        highest_registry_bytes_ = counted;
        records_at_peak_ = registry.snapshot();
    }
}

std::size_t PinObserver::peak_locked_bytes() noexcept {
    return audit::Registry::instance().peak_locked_bytes();
}

}  // namespace pinwarden::command
