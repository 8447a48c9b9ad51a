// SPDX-License-Identifier: Apache-2.0
#include "registry/ledger.hpp"

#include <pinwarden/core/bytes.hpp>
#include <pinwarden/core/error.hpp>
#include <pinwarden/core/fork.hpp>

#include <algorithm>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <pthread.h>

#include "registry/memory_tools.hpp"
#include "registry/stack_capture.hpp"
#include "report/report_at_exit.hpp"

namespace pinwarden::audit {

bool is_inert(const Entry& entry) noexcept { return entry.generation != fork_generation(); }

struct Chunk {
    std::array<Entry, 64> entries{};
    Chunk* next = nullptr;
};

namespace {

constinit Ledger the_ledger;
static_assert(std::is_trivially_destructible_v<Ledger>, "handles may outlive every other static object");

// What an entry in `state` is reported as. A pageable block is no pin, but while a copy uses it after its handle is
// gone, somebody has to know.
std::optional<PinState> reported(const Entry& entry, EntryState state) noexcept {
    if (is_inert(entry)) return std::nullopt;
    switch (state) {
        case EntryState::live: return entry.pinned ? std::optional(PinState::live) : std::nullopt;
        case EntryState::cached: return entry.pinned ? std::optional(PinState::cached) : std::nullopt;
        case EntryState::in_flight: return PinState::in_flight;
        case EntryState::quarantined: return PinState::quarantined;
        case EntryState::vacant:
        case EntryState::reserved:
        case EntryState::releasing: break;
    }
    return std::nullopt;
}

void add(Tally& tally, const HostBlock& block) noexcept {
    tally.pins += 1;
    tally.bytes += block.bytes;
    tally.locked_bytes += block.locked_bytes;
}

void subtract(Tally& tally, const HostBlock& block) noexcept {
    tally.pins -= 1;
    tally.bytes -= block.bytes;
    tally.locked_bytes -= block.locked_bytes;
}

Tally sum(const Tally& left, const Tally& right) noexcept {
    return {left.pins + right.pins, left.bytes + right.bytes, left.locked_bytes + right.locked_bytes};
}

// A record and the uses that it may be waiting for, which are asked after the mutex is unlocked.
struct Copied {
    PinRecord record;
    std::vector<CompletionTokenPtr> uses;
};

// Call with the shard's mutex held.
Copied copy_of(const Entry& entry, PinState state) {
    PinRecord record{.address = entry.block.address,
                     .bytes = entry.block.bytes,
                     .locked_bytes = entry.block.locked_bytes,
                     .state = state,
                     .backend = std::string(entry.backend->name()),
                     .label = entry.label,
                     .scope = std::string(entry.scope.name()),
                     .site = entry.site,
                     .thread = entry.thread,
                     .age = std::chrono::steady_clock::now() - entry.pinned_at,
                     .detail = {},
                     .streams = {},
                     .stack = entry.stack};
    if (state == PinState::quarantined) {
        record.detail = fmt::format("{} failed with error {}", entry.failure.call, entry.failure.code);
    }
    return {std::move(record),
            state == PinState::in_flight ? entry.uses : std::vector<CompletionTokenPtr>()};
}

// Call without any mutex: a token may have to ask a driver.
PinRecord completed(Copied copied) {
    PinRecord& record = copied.record;
    for (const CompletionTokenPtr& use : copied.uses) {
        if (use->is_complete()) continue;
        record.streams.push_back({use->queue(), use->queue_name()});
        record.detail += (record.detail.empty() ? "used on stream " : ", ") + record.streams.back().name;
    }
    return std::move(record);
}

}  // namespace

namespace {

// Before every other static object of the program: what is armed first at exit runs last.
[[gnu::constructor(101)]] void watch_process() noexcept {
    arm_report_at_exit();
    read_stack_variable();
    ::pthread_atfork([] { the_ledger.before_fork(); }, [] { the_ledger.after_fork_in_parent(); },
                     [] { the_ledger.after_fork_in_child(); });
}

}  // namespace

Ledger& Ledger::instance() noexcept { return the_ledger; }

Shard& Ledger::shard_of_this_thread() noexcept {
    static constinit std::atomic<std::size_t> next_thread{0};
    thread_local const std::size_t mine = next_thread.fetch_add(1, std::memory_order_relaxed) % shard_count;
    return shards_[mine];
}

Entry& Ledger::reserve(std::string_view label, const ScopeRef& scope, const Site& site) {
    sweep();  // what has completed makes room before more is pinned
    Shard& shard = shard_of_this_thread();
    Entry* entry = nullptr;
    {
        const detail::CriticalSection lock(shard.mutex);
        if (shard.vacant == nullptr) {
            auto* const chunk = new Chunk;
            chunk->next = std::exchange(shard.chunks, chunk);
            for (Entry& fresh : chunk->entries) {
                fresh.shard = &shard;
                fresh.next = std::exchange(shard.vacant, &fresh);
            }
        }
        entry = std::exchange(shard.vacant, shard.vacant->next);
        entry->next = nullptr;
        entry->state = EntryState::reserved;
        entry->number = ++shard.numbers;
        entry->generation = fork_generation();
    }
    try {
        entry->label.assign(label);
        entry->uses.reserve(1);  // so that a use that is lost can be recorded without memory
    } catch (...) {
        vacate(*entry);
        throw;
    }
    entry->scope = scope;
    entry->site = site;
    entry->thread = std::this_thread::get_id();
    return *entry;
}

void Ledger::vacate(Entry& entry) noexcept {
    // What the entry shared is let go of outside the mutex: it may be the last owner.
    const PinBackendPtr backend = std::exchange(entry.backend, nullptr);
    entry.uses.clear();
    const detail::CriticalSection lock(entry.shard->mutex);
    entry.state = EntryState::vacant;
    entry.pinned = false;
    entry.registered = false;
    entry.pooled = false;
    entry.fell_back = false;
    entry.block = {};
    entry.scope = {};
    entry.stack.clear();
    entry.next = std::exchange(entry.shard->vacant, &entry);
}

void Ledger::claim(Entry& entry) {
    const HostBlock& block = entry.block;
    if (const std::byte* const other = index_.insert_unless_overlapping(entry)) {
        throw OverlapError(fmt::format(
            "{} at {} cannot be registered: a page of it belongs to the pin at {}, and the kernel does not count "
            "locks, so the first to unpin would unlock it for both; release that pin first, or register memory that "
            "shares no page with it",
            format_bytes(block.bytes), static_cast<const void*>(block.address), static_cast<const void*>(other)));
    }
}

void Ledger::disclaim(Entry& entry) noexcept { index_.erase(entry); }

void Ledger::publish(Entry& entry, const HostBlock& block) noexcept {
    {
        const detail::CriticalSection lock(entry.shard->mutex);
        entry.block.locked_bytes = block.locked_bytes;
        entry.block.device_pinned = block.device_pinned;
        entry.block.own_pages = block.own_pages;
        if (!entry.registered) {  // a claim has filed the rest already, and look-ups may be reading it
            entry.block.address = block.address;
            entry.block.bytes = block.bytes;
        }
        entry.pinned_at = std::chrono::steady_clock::now();
    }
    memory_tools::begin(entry.block);
    if (entry.pinned && !entry.registered) index_.insert(entry);
    const std::size_t locked = locked_.fetch_add(block.locked_bytes, std::memory_order_relaxed) + block.locked_bytes;
    std::size_t peak = peak_.load(std::memory_order_relaxed);
    while (peak < locked && !peak_.compare_exchange_weak(peak, locked, std::memory_order_relaxed)) {
    }
    move(entry, EntryState::live);
}

void Ledger::move(Entry& entry, EntryState to) noexcept {
    const detail::CriticalSection lock(entry.shard->mutex);
    recount(entry, to);
}

void Ledger::recount(Entry& entry, EntryState to) noexcept {
    Counts& counts = entry.shard->counts;
    if (const auto from = reported(entry, entry.state)) subtract(counts.of(*from), entry.block);
    entry.state = to;
    if (const auto into = reported(entry, to)) add(counts.of(*into), entry.block);
}

void Ledger::release(Entry& entry) noexcept {
    if (is_inert(entry)) return;
    // The process is ending, by a signal handler that has interrupted this thread in the audit: the system unpins.
    if (detail::CriticalSection::is_interrupted()) return;
    sweep();
    if (all_complete(entry.uses)) {
        release_now(entry);
        return;
    }
    move(entry, EntryState::in_flight);
    in_flight_.add(entry);
}

void Ledger::release_now(Entry& entry) noexcept {
    // Whether an abandoned use is over cannot be known, so its memory goes where the runtime goes, and to nobody else.
    const bool is_reusable = std::ranges::none_of(entry.uses, [](const auto& use) { return use->is_abandoned(); });
    if (!is_reusable || !keep(entry)) unpin(entry);
}

void Ledger::unpin(Entry& entry) noexcept {
    // The backend may hand out an allocated block's address again as soon as it has it back. The pages of a
    // registration stay claimed until they are unlocked: a second lock on one of them would be undone with the first.
    if (entry.pinned && !entry.registered) index_.erase(entry);
    move(entry, EntryState::releasing);
    locked_.fetch_sub(entry.block.locked_bytes, std::memory_order_relaxed);

    HostBlock block = entry.block;
    if (entry.pooled) {
        block.bytes = round_up(block.bytes, page_bytes());
    } else {
        memory_tools::end(block);  // of a pool's block it was said when it was cached
    }
    memory_tools::give_back(block);
    const UnpinAnswer answer = entry.registered ? entry.backend->unregister_memory(block)
                                                : entry.backend->deallocate(block);
    if (answer.status == UnpinStatus::failed) {
        quarantine(entry, answer);
        return;
    }
    if (answer.status == UnpinStatus::unloading) {
        const detail::CriticalSection lock(entry.shard->mutex);
        add(entry.shard->counts.left_to_system, entry.block);
    }
    if (entry.pinned && entry.registered) index_.erase(entry);
    vacate(entry);
}

void Ledger::await(const ScopeRef& scope, std::chrono::nanoseconds deadline) noexcept {
    in_flight_.await(*this, scope, deadline);
}

bool Ledger::has_in_flight(const ScopeRef& scope) noexcept {
    for (Shard& shard : shards_) {
        const detail::CriticalSection lock(shard.mutex);
        for (const Chunk* chunk = shard.chunks; chunk != nullptr; chunk = chunk->next) {
            for (const Entry& entry : chunk->entries) {
                const bool waits = entry.state == EntryState::in_flight || entry.state == EntryState::releasing;
                if (waits && !is_inert(entry) && entry.scope == scope) return true;
            }
        }
    }
    return false;
}

bool Ledger::is_selected(std::size_t shard, const Entry& entry, const Selection& selection) noexcept {
    if (selection.scope != nullptr && entry.scope != *selection.scope) return false;
    return selection.since == nullptr || entry.number > (*selection.since)[shard];
}

LedgerMark Ledger::mark() noexcept {
    LedgerMark mark{};
    for (std::size_t number = 0; number < shard_count; ++number) {
        const detail::CriticalSection lock(shards_[number].mutex);
        mark[number] = shards_[number].numbers;
    }
    return mark;
}

Tally Ledger::live(const Selection& selection) noexcept {
    Tally tally;
    for (std::size_t number = 0; number < shard_count; ++number) {
        Shard& shard = shards_[number];
        const detail::CriticalSection lock(shard.mutex);
        for (const Chunk* chunk = shard.chunks; chunk != nullptr; chunk = chunk->next) {
            for (const Entry& entry : chunk->entries) {
                if (reported(entry, entry.state) != PinState::live) continue;
                if (is_selected(number, entry, selection)) add(tally, entry.block);
            }
        }
    }
    return tally;
}

void Ledger::note_fallback(std::size_t bytes) noexcept {
    const detail::CriticalSection lock(fallback_mutex_);
    add(fallbacks_, {nullptr, bytes, 0});
}

Tally Ledger::fallbacks() noexcept {
    const detail::CriticalSection lock(fallback_mutex_);
    return fallbacks_;
}

Counts Ledger::counts() noexcept {
    Counts total;
    for (Shard& shard : shards_) {
        const detail::CriticalSection lock(shard.mutex);
        const Counts& counts = shard.counts;
        total.live = sum(total.live, counts.live);
        total.cached = sum(total.cached, counts.cached);
        total.in_flight = sum(total.in_flight, counts.in_flight);
        total.quarantined = sum(total.quarantined, counts.quarantined);
        total.left_to_system = sum(total.left_to_system, counts.left_to_system);
    }
    return total;
}

std::optional<PinRecord> Ledger::find(const void* address) {
    std::optional<Copied> found;
    index_.find(address, [&](const Entry& entry) {
        const detail::CriticalSection lock(entry.shard->mutex);
        if (const auto state = reported(entry, entry.state)) found = copy_of(entry, *state);
    });
    if (!found) return std::nullopt;
    return completed(std::move(*found));
}

std::vector<PinRecord> Ledger::records(const Selection& selection) {
    std::vector<Copied> copies;
    for (std::size_t number = 0; number < shard_count; ++number) {
        Shard& shard = shards_[number];
        const detail::CriticalSection lock(shard.mutex);
        for (const Chunk* chunk = shard.chunks; chunk != nullptr; chunk = chunk->next) {
            for (const Entry& entry : chunk->entries) {
                // The state comes first: the scope of an entry that is being reserved is written without the mutex.
                const auto state = reported(entry, entry.state);
                if (!state || !is_selected(number, entry, selection)) continue;
                copies.push_back(copy_of(entry, *state));
            }
        }
    }
    std::vector<PinRecord> records;
    records.reserve(copies.size());
    for (Copied& copied : copies) records.push_back(completed(std::move(copied)));
    std::ranges::sort(records, {}, &PinRecord::address);
    return records;
}

}  // namespace pinwarden::audit
