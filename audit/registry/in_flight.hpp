// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The blocks whose handles are gone while copies still use them.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include <pinwarden/audit/scope.hpp>
#include <pinwarden/core/completion.hpp>

#include "registry/entry.hpp"

namespace pinwarden::audit {

class Ledger;

/// Whether none of `uses` is running any more.
[[nodiscard]] bool all_complete(const std::vector<CompletionTokenPtr>& uses) noexcept;

/// A queue of entries. Who sweeps takes one at a time from its head, and puts it back at the tail if it has to wait on:
/// a stuck stream and a slow release delay their own blocks only, and no mutex is held while a token is asked.
/// Thread-safe and constant-initialised.
class InFlight {
public:
    /// Adds an entry; it is released by a later sweep.
    void add(Entry& entry) noexcept;

    /// Releases every entry whose uses are complete. Costs one load when there is none.
    void sweep(Ledger& ledger) noexcept { sweep(ledger, nullptr, SIZE_MAX); }

    /// The same for those at the head, a number that is enough to keep up with what is dropped.
    void sweep_some(Ledger& ledger) noexcept { sweep(ledger, nullptr, 16); }

    /// Waits until no entry of `scope` is left or the time is over, releasing what completes meanwhile.
    void await(Ledger& ledger, const ScopeRef& scope, std::chrono::nanoseconds deadline) noexcept;

    /// Around a fork, as Ledger's functions of these names.
    void lock() noexcept { mutex_.lock(); }
    void unlock() noexcept { mutex_.unlock(); }
    void forget_all() noexcept;

private:
    // Looks at each entry, of one scope or of all, once, and at no more than `most`.
    void sweep(Ledger& ledger, const ScopeRef* only, std::size_t most) noexcept;
    [[nodiscard]] std::size_t listed(const ScopeRef* only) noexcept;
    [[nodiscard]] Entry* take(const ScopeRef* only) noexcept;
    void append(Entry& entry) noexcept;

    // Waits for one use of `scope`, another one each round, for at most `slice`.
    // @returns whether there was one on the list.
    bool wait_for_one(const ScopeRef& scope, std::size_t round, std::chrono::nanoseconds slice) noexcept;

    std::mutex mutex_{};
    Entry* head_ = nullptr;
    Entry* tail_ = nullptr;
    std::atomic<std::size_t> waiting_{0};  // entries in the queue or in the hands of a sweeper
};

}  // namespace pinwarden::audit
