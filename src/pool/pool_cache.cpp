// SPDX-License-Identifier: Apache-2.0
#include "pool/pool_cache.hpp"

#include <pinwarden/core/bytes.hpp>
#include <pinwarden/core/fork.hpp>

#include <cstdint>
#include <mutex>
#include <new>
#include <utility>

#include "core/critical_section.hpp"
#include "pool/cached_blocks.hpp"
#include "registry/ledger.hpp"

namespace pinwarden::detail {

using audit::Entry;
using audit::Ledger;

std::size_t whole_pages(std::size_t bytes) noexcept { return (bytes + page_bytes() - 1) & ~(page_bytes() - 1); }

struct PoolCache::Shelf {
    explicit Shelf(Shelf* of_the_parent) noexcept : parents(of_the_parent) {}

    Shelf* const parents;  // kept in sight of leak checkers
    const std::uint64_t generation = fork_generation();
    std::mutex mutex{};
    CachedBlocks blocks{};
    std::size_t reused = 0;
};

PoolCache::PoolCache(PinBackendPtr backing, std::size_t limit_bytes)
    : backing_(std::move(backing)), limit_bytes_(limit_bytes), shelf_(new Shelf(nullptr)) {}

PoolCache::~PoolCache() {
    Shelf* const mine = shelf_.load(std::memory_order_acquire);
    if (mine->generation == fork_generation()) delete mine;
}

PoolCache::Shelf* PoolCache::shelf() const noexcept {
    Shelf* current = shelf_.load(std::memory_order_acquire);
    if (current->generation == fork_generation()) return current;
    auto* const fresh = new (std::nothrow) Shelf(current);
    if (fresh == nullptr) return nullptr;
    if (shelf_.compare_exchange_strong(current, fresh, std::memory_order_acq_rel)) return fresh;
    delete fresh;  // another thread of the child was quicker
    return current;
}

Entry* PoolCache::take(std::size_t bytes) {
    Shelf* const mine = shelf();
    if (mine == nullptr) throw std::bad_alloc();
    const CriticalSection lock(mine->mutex);
    Entry* const entry = mine->blocks.take(whole_pages(bytes));
    if (entry != nullptr) ++mine->reused;
    return entry;
}

bool PoolCache::keep(Entry& entry) noexcept {
    const std::size_t bytes = whole_pages(entry.block.bytes);
    Shelf* const mine = shelf();
    if (mine == nullptr || bytes > limit_bytes_) return false;
    {
        const CriticalSection lock(mine->mutex);
        if (!mine->blocks.add(entry, bytes)) return false;
        if (mine->blocks.bytes() <= limit_bytes_) return true;
    }
    trim(limit_bytes_);
    return true;
}

std::size_t PoolCache::trim(std::size_t keep_bytes) noexcept {
    Shelf* const mine = shelf();
    if (mine == nullptr) return 0;
    std::size_t unpinned = 0;
    for (;;) {
        Entry* oldest = nullptr;
        {
            const CriticalSection lock(mine->mutex);
            if (mine->blocks.bytes() <= keep_bytes) return unpinned;
            oldest = mine->blocks.take_oldest();
        }
        unpinned += whole_pages(oldest->block.bytes);
        Ledger::instance().discard(*oldest);
    }
}

PoolStatistics PoolCache::statistics() const noexcept {
    Shelf* const mine = shelf();
    if (mine == nullptr) return {};
    const CriticalSection lock(mine->mutex);
    return {mine->reused, mine->blocks.count(), mine->blocks.bytes()};
}

}  // namespace pinwarden::detail
