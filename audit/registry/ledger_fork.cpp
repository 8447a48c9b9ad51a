// SPDX-License-Identifier: Apache-2.0
#include "registry/ledger.hpp"

namespace pinwarden::audit {

void Ledger::before_fork() noexcept {
    // In the order in which they nest: a look-up copies a record while it holds a table of the index.
    index_.lock_all();
    for (Shard& shard : shards_) shard.mutex.lock();
    in_flight_.lock();
    fallback_mutex_.lock();
}

void Ledger::after_fork_in_parent() noexcept {
    fallback_mutex_.unlock();
    in_flight_.unlock();
    for (Shard& shard : shards_) shard.mutex.unlock();
    index_.unlock_all();
}

// The entries that were in use stay as they are: their generation is over, which makes them inert, and they are never
// recycled, because what they share (events, backends) must not be destroyed in the child either.
void Ledger::after_fork_in_child() noexcept {
    index_.forget_all();
    for (Shard& shard : shards_) shard.counts = {};
    in_flight_.forget_all();
    locked_.store(0, std::memory_order_relaxed);
    peak_.store(0, std::memory_order_relaxed);
    fallbacks_ = {};
    after_fork_in_parent();
}

}  // namespace pinwarden::audit
