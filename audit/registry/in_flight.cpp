// SPDX-License-Identifier: Apache-2.0
#include "registry/in_flight.hpp"

#include "registry/ledger.hpp"

#include <algorithm>
#include <thread>

namespace pinwarden::audit {

bool all_complete(const std::vector<CompletionTokenPtr>& uses) noexcept {
    return std::ranges::all_of(uses, [](const CompletionTokenPtr& use) { return use->is_complete(); });
}

void InFlight::add(Entry& entry) noexcept {
    const std::scoped_lock lock(mutex_);
    entry.next = head_;
    head_ = &entry;
    waiting_.fetch_add(1, std::memory_order_relaxed);
}

void InFlight::sweep(Ledger& ledger) noexcept {
    if (waiting_.load(std::memory_order_relaxed) == 0) return;
    Entry* taken = nullptr;
    {
        const std::scoped_lock lock(mutex_);
        std::swap(taken, head_);
    }
    Entry* kept = nullptr;
    Entry* last_kept = nullptr;
    while (Entry* const entry = taken) {
        taken = entry->next;
        entry->next = nullptr;
        if (all_complete(entry->uses)) {
            ledger.release_now(*entry);
            waiting_.fetch_sub(1, std::memory_order_release);
            continue;
        }
        entry->next = kept;
        kept = entry;
        if (last_kept == nullptr) last_kept = entry;
    }
    if (kept == nullptr) return;
    const std::scoped_lock lock(mutex_);
    last_kept->next = head_;
    head_ = kept;
}

void InFlight::forget_all() noexcept {
    head_ = nullptr;
    waiting_.store(0, std::memory_order_relaxed);
}

bool InFlight::wait_for_one(const ScopeRef& scope, std::size_t round, std::chrono::nanoseconds slice) noexcept {
    CompletionTokenPtr use;
    {
        const std::scoped_lock lock(mutex_);
        for (const Entry* entry = head_; entry != nullptr; entry = entry->next) {
            if (entry->scope != scope) continue;
            use = entry->uses[round % entry->uses.size()];
            break;
        }
    }
    if (!use) return false;
    static_cast<void>(use->wait_for(slice));
    return true;
}

void InFlight::await(Ledger& ledger, const ScopeRef& scope, std::chrono::nanoseconds deadline) noexcept {
    using Clock = std::chrono::steady_clock;
    // One slice at a time, so that entries behind a stuck queue do not hold up the others of the scope.
    constexpr std::chrono::nanoseconds longest_slice = std::chrono::milliseconds(5);
    constexpr std::chrono::nanoseconds shortest_slice = std::chrono::microseconds(100);
    const Clock::time_point start = Clock::now();
    for (std::size_t round = 0;; ++round) {
        sweep(ledger);
        if (waiting_.load(std::memory_order_acquire) == 0 || !ledger.has_in_flight(scope)) return;
        const auto passed = Clock::now() - start;
        if (passed >= deadline) return;
        const auto slice = std::min<std::chrono::nanoseconds>(deadline - passed, longest_slice);
        // Entries that another thread is sweeping are on no list: look again shortly.
        if (!wait_for_one(scope, round, slice)) std::this_thread::sleep_for(std::min(slice, shortest_slice));
    }
}

}  // namespace pinwarden::audit
