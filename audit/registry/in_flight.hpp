// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The blocks whose handles are gone while copies still use them.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <vector>

#include <pinwarden/audit/scope.hpp>
#include <pinwarden/core/completion.hpp>

#include "registry/entry.hpp"

namespace pinwarden::audit {

class Ledger;

/// Whether none of `uses` is running any more.
[[nodiscard]] bool all_complete(const std::vector<CompletionTokenPtr>& uses) noexcept;

/// A list that is taken whole by whoever sweeps it: a stuck queue delays its own blocks only, and no mutex is held
/// while a token is asked. Thread-safe and constant-initialised.
class InFlight {
public:
    /// Adds an entry; it is released by a later sweep.
    void add(Entry& entry) noexcept;

    /// Releases every entry whose uses are complete. Costs one load when there is none.
    void sweep(Ledger& ledger) noexcept;

    /// Waits until no entry of `scope` is left or the time is over, releasing what completes meanwhile.
    void await(Ledger& ledger, const ScopeRef& scope, std::chrono::nanoseconds deadline) noexcept;

    /// Around a fork, as Ledger's functions of these names.
    void lock() noexcept { mutex_.lock(); }
    void unlock() noexcept { mutex_.unlock(); }
    void forget_all() noexcept;

private:
    // Waits for one use of `scope`, another one each round, for at most `slice`.
    // @returns whether there was one on the list.
    bool wait_for_one(const ScopeRef& scope, std::size_t round, std::chrono::nanoseconds slice) noexcept;

    std::mutex mutex_{};
    Entry* head_ = nullptr;
    std::atomic<std::size_t> waiting_{0};  // entries on the list or in the hands of a sweeper
};

}  // namespace pinwarden::audit
