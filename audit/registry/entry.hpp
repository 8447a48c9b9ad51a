// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The audit's record of one block of host memory, which is also all that a handle points to.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <pinwarden/audit/pin_record.hpp>
#include <pinwarden/audit/scope.hpp>
#include <pinwarden/backend/pin_backend.hpp>
#include <pinwarden/core/completion.hpp>
#include <pinwarden/core/site.hpp>

namespace pinwarden::audit {

struct Entry;
struct Shard;

/// A place in one of a pool's lists.
struct CacheLinks {
    Entry* newer = nullptr;
    Entry* older = nullptr;
};

/// A place in the address index; every entry brings the two that it may need, so that indexing never allocates.
struct IndexNode {
    IndexNode* next = nullptr;
    Entry* entry = nullptr;
    std::uint64_t key = 0;
};

/// Where an entry stands; the middle four are what reports show.
enum class EntryState : std::uint8_t { vacant, reserved, live, cached, in_flight, quarantined, releasing };

/// Slots are recycled and never freed, so that a reader can never follow a dangling one. `uses` belongs to the handle
/// while the entry is live and to the sweeper while it is in flight; everything else that a reader copies changes
/// under the shard's mutex only.
struct Entry {
    Shard* shard = nullptr;
    Entry* next = nullptr;  ///< in the free list of the shard, or in the list of blocks in flight
    std::array<IndexNode, 2> nodes{};
    CacheLinks among_all{};      ///< while it is cached: between the other blocks of its pool
    CacheLinks among_equals{};   ///< the same, between those of its size

    std::uint64_t number = 0;  ///< of its reservation or reuse; each shard counts its own
    std::uint64_t generation = 0;  ///< the fork_generation() in which it was reserved; in any other it is inert
    EntryState state = EntryState::vacant;
    bool pinned = false;       ///< whether its backend locks pages: pageable blocks are counted in flight only
    bool registered = false;   ///< memory of somebody else: unregister instead of deallocate
    bool pooled = false;       ///< its backend was asked for whole pages on behalf of a pool
    bool fell_back = false;    ///< pageable because pinning was refused and that was allowed
    HostBlock block{};
    PinBackendPtr backend{};
    std::string label{};
    ScopeRef scope{};
    Site site{};
    std::vector<const void*> stack{};  ///< where the calls return to, innermost first; empty unless captured
    std::thread::id thread{};
    std::chrono::steady_clock::time_point pinned_at{};
    std::vector<CompletionTokenPtr> uses{};  ///< the last use on each queue
    UnpinAnswer failure{};                   ///< why it is quarantined
};

}  // namespace pinwarden::audit
