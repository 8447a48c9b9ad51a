// SPDX-License-Identifier: Apache-2.0
#include "registry/in_flight.hpp"

#include "registry/ledger.hpp"

#include <algorithm>
#include <thread>
#include <utility>

namespace pinwarden::audit {

bool all_complete(const std::vector<CompletionTokenPtr>& uses) noexcept {
    return std::ranges::all_of(uses, [](const CompletionTokenPtr& use) { return use->is_complete(); });
}

void InFlight::add(Entry& entry) noexcept {
    waiting_.fetch_add(1, std::memory_order_relaxed);
    append(entry);
}

void InFlight::append(Entry& entry) noexcept {
    const detail::CriticalSection lock(mutex_);
    entry.next = nullptr;
    (tail_ == nullptr ? head_ : tail_->next) = &entry;
    tail_ = &entry;
}

std::size_t InFlight::listed(const ScopeRef* only) noexcept {
    if (only == nullptr) return waiting_.load(std::memory_order_relaxed);
    std::size_t number = 0;
    const detail::CriticalSection lock(mutex_);
    for (const Entry* entry = head_; entry != nullptr; entry = entry->next) number += entry->scope == *only ? 1 : 0;
    return number;
}

Entry* InFlight::take(const ScopeRef* only) noexcept {
    const detail::CriticalSection lock(mutex_);
    Entry* before = nullptr;
    Entry* entry = head_;
    while (entry != nullptr && only != nullptr && entry->scope != *only) before = std::exchange(entry, entry->next);
    if (entry == nullptr) return nullptr;
    (before == nullptr ? head_ : before->next) = entry->next;
    if (tail_ == entry) tail_ = before;
    return entry;
}

void InFlight::sweep(Ledger& ledger, const ScopeRef* only, std::size_t most) noexcept {
    if (waiting_.load(std::memory_order_relaxed) == 0) return;
    for (std::size_t left = std::min(most, listed(only)); left != 0; --left) {
        Entry* const entry = take(only);
        if (entry == nullptr) return;
        if (all_complete(entry->uses)) {
            ledger.release_now(*entry);
            waiting_.fetch_sub(1, std::memory_order_release);
        } else {
            append(*entry);
        }
    }
}

void InFlight::forget_all() noexcept {
    head_ = nullptr;
    tail_ = nullptr;
    waiting_.store(0, std::memory_order_relaxed);
}

bool InFlight::wait_for_one(const ScopeRef& scope, std::size_t round, std::chrono::nanoseconds slice) noexcept {
    CompletionTokenPtr use;
    {
        const detail::CriticalSection lock(mutex_);
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
        sweep(ledger, &scope, SIZE_MAX);
        if (waiting_.load(std::memory_order_acquire) == 0 || !ledger.has_in_flight(scope)) return;
        const auto passed = Clock::now() - start;
        if (passed >= deadline) return;
        const auto slice = std::min<std::chrono::nanoseconds>(deadline - passed, longest_slice);
        // Entries that another thread is sweeping are on no list: look again shortly.
        if (!wait_for_one(scope, round, slice)) std::this_thread::sleep_for(std::min(slice, shortest_slice));
    }
}

}  // namespace pinwarden::audit
