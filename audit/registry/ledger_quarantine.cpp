// SPDX-License-Identifier: Apache-2.0
#include "registry/ledger.hpp"

#include <pinwarden/core/bytes.hpp>
#include <pinwarden/core/release_failure.hpp>

#include <string>

#include <fmt/format.h>

#include "core/critical_section.hpp"
#include "registry/memory_tools.hpp"

namespace pinwarden::audit {

void Ledger::quarantine(Entry& entry, const UnpinAnswer& answer) noexcept {
    {
        const detail::CriticalSection lock(entry.shard->mutex);
        entry.failure = answer;
    }
    memory_tools::begin(entry.block);  // out of bounds for everybody again
    memory_tools::end(entry.block);
    locked_.fetch_add(entry.block.locked_bytes, std::memory_order_relaxed);
    if (entry.pinned && !entry.registered) index_.insert(entry);
    move(entry, EntryState::quarantined);

    ReleaseFailure failure{.text = "a pin could not be released and is quarantined",
                           .address = entry.block.address,
                           .bytes = entry.block.locked_bytes,
                           .code = answer.code,
                           .site = entry.site};
    std::string text;
    try {
        text = fmt::format(
            "{}({}, {}) of the {} backend failed with error {}: {} '{}', pinned at {}:{}, stays pinned; its memory is "
            "quarantined and will not be reused",
            answer.call, static_cast<const void*>(entry.block.address), entry.block.bytes, entry.backend->name(),
            answer.code, format_bytes(entry.block.locked_bytes), entry.label, entry.site.file_name(),
            entry.site.line());
        failure.text = text;
    } catch (...) {  // no memory for a better text
    }
    report_release_failure(failure);
}

void Ledger::keep_stuck(const Entry& refused, const PinRefusal& refusal) {
    Entry& entry = reserve(refused.label, refused.scope, refused.site);
    entry.backend = refused.backend;
    entry.pinned = true;
    entry.registered = refused.registered;
    {
        const detail::CriticalSection lock(entry.shard->mutex);
        entry.block = {.address = refusal.stuck_address,
                       .bytes = refusal.stuck_bytes,
                       .locked_bytes = refusal.stuck_bytes};
        entry.failure = {UnpinStatus::failed, "the roll-back of a registration", refusal.code};
        entry.pinned_at = std::chrono::steady_clock::now();
    }
    locked_.fetch_add(entry.block.locked_bytes, std::memory_order_relaxed);
    index_.insert(entry);
    move(entry, EntryState::quarantined);
}

}  // namespace pinwarden::audit
