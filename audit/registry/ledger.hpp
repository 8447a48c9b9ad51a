// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The writing side of the registry: the life of an entry from reservation to erasure.
///
/// ```
/// reserve -> publish -> release -> (vacant | quarantined)
///                          \-> in flight, until its copies are complete
/// ```
/// A pool's entry goes from release to cached instead, and from there to take() or to discard().
///
/// An entry is reserved before memory is pinned, published after it, and erased before the memory can be handed out
/// again. No mutex is held while a backend or a completion token is called.

#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include <pinwarden/audit/pin_record.hpp>
#include <pinwarden/audit/scope.hpp>
#include <pinwarden/backend/pin_backend.hpp>
#include <pinwarden/core/error.hpp>
#include <pinwarden/core/site.hpp>

#include "registry/address_index.hpp"
#include "registry/entry.hpp"
#include "registry/in_flight.hpp"

namespace pinwarden::audit {

/// Whether `entry` was copied by a fork: its pin is the parent's, so it is neither counted nor released here.
[[nodiscard]] bool is_inert(const Entry& entry) noexcept;

/// A part of the entries with a mutex of its own, so that threads seldom meet. Each thread reserves in one shard.
struct alignas(64) Shard {
    std::mutex mutex{};
    Entry* vacant = nullptr;           // free list
    struct Chunk* chunks = nullptr;    // all entries ever made, linked for snapshots
    Counts counts{};                   // of this shard's entries
    std::uint64_t numbers = 0;         // given to its entries so far
};

/// A moment: the last number that each shard had given.
using LedgerMark = std::array<std::uint64_t, 16>;

/// Some of the entries; without anything, all of them.
struct Selection {
    const ScopeRef* scope = nullptr;    ///< those of this scope
    const LedgerMark* since = nullptr;  ///< those that were asked for after this moment
};

/// Thread-safe, constant-initialised and never destroyed.
class Ledger {
public:
    [[nodiscard]] static Ledger& instance() noexcept;

    /// A slot for a block that is about to be acquired; goes back by vacate() if it never is.
    /// @throws std::bad_alloc
    [[nodiscard]] Entry& reserve(std::string_view label, const ScopeRef& scope, const Site& site);

    /// Gives an entry back that was never published.
    void vacate(Entry& entry) noexcept;

    /// Files the range of a registration, its `block`, before it is pinned, so that two can never share a page.
    /// @throws OverlapError if a page of it is pinned already.
    void claim(Entry& entry);

    /// Takes a claim back whose pin was refused.
    void disclaim(Entry& entry) noexcept;

    /// The block is acquired: the entry is live from now on.
    void publish(Entry& entry, const HostBlock& block) noexcept;

    /// The handle is gone: releases the block now, or after its recorded uses.
    void release(Entry& entry) noexcept;

    /// A live entry made of a block that `backend` has cached, if it is a pool and has one for `bytes`; else null. Only
    /// the entry that is returned takes `stack`.
    /// @throws std::bad_alloc
    [[nodiscard]] Entry* take(const PinBackendPtr& backend, std::size_t bytes, std::string_view label,
                              const ScopeRef& scope, const Site& site, std::vector<const void*>& stack);

    /// A pool gives up an entry that it has cached: releases the block.
    void discard(Entry& entry) noexcept { unpin(entry); }

    /// Quarantines the memory of a pin that was refused half-way and could not be undone, as `refused` would have been
    /// recorded.
    /// @throws std::bad_alloc
    void keep_stuck(const Entry& refused, const PinRefusal& refusal);

    /// Releases some of what is in flight no longer: in passing, at a cost that does not grow with what is stuck.
    void sweep() noexcept { in_flight_.sweep_some(*this); }

    /// Releases all of it.
    void collect() noexcept { in_flight_.sweep(*this); }

    /// Waits until nothing of `scope` is in flight or the time is over.
    void await(const ScopeRef& scope, std::chrono::nanoseconds deadline) noexcept;

    /// Counts a pin that was preferred and became pageable memory.
    void note_fallback(std::size_t bytes) noexcept;

    [[nodiscard]] Counts counts() noexcept;
    [[nodiscard]] Tally fallbacks() noexcept;
    [[nodiscard]] std::size_t peak_locked_bytes() const noexcept { return peak_.load(std::memory_order_relaxed); }
    void reset_peak() noexcept { peak_.store(locked_.load(std::memory_order_relaxed), std::memory_order_relaxed); }

    /// Copies of the records of a selection, in the order of addresses.
    [[nodiscard]] std::vector<PinRecord> records(const Selection& selection);

    /// This moment. Locks each shard in turn; a pin that another thread is asking for meanwhile may count as earlier.
    [[nodiscard]] LedgerMark mark() noexcept;

    /// The record of the pin that holds `address`.
    [[nodiscard]] std::optional<PinRecord> find(const void* address);

    /// Around a fork: no mutex may be held by a thread that the child does not have, and the child starts empty.
    void before_fork() noexcept;
    void after_fork_in_parent() noexcept;
    void after_fork_in_child() noexcept;

    /// Whether something of `scope` is in flight or is being released after it.
    [[nodiscard]] bool has_in_flight(const ScopeRef& scope) noexcept;

    /// The pins of a selection that are live; unlike records() it needs no memory.
    [[nodiscard]] Tally live(const Selection& selection) noexcept;

private:
    friend class InFlight;

    static constexpr std::size_t shard_count = std::tuple_size_v<LedgerMark>;

    [[nodiscard]] static bool is_selected(std::size_t shard, const Entry& entry, const Selection& selection) noexcept;

    [[nodiscard]] Shard& shard_of_this_thread() noexcept;
    void release_now(Entry& entry) noexcept;
    [[nodiscard]] bool keep(Entry& entry) noexcept;  ///< by the pool that it came from, if it did
    void unpin(Entry& entry) noexcept;
    void quarantine(Entry& entry, const UnpinAnswer& answer) noexcept;
    void move(Entry& entry, EntryState to) noexcept;     ///< between states, and between their counts
    void recount(Entry& entry, EntryState to) noexcept;  ///< the same with the shard's mutex held

    std::array<Shard, shard_count> shards_{};
    AddressIndex index_{};
    InFlight in_flight_{};
    std::atomic<std::size_t> locked_{0};
    std::atomic<std::size_t> peak_{0};
    std::mutex fallback_mutex_{};
    Tally fallbacks_{};
};

}  // namespace pinwarden::audit
