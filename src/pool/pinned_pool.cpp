// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/pool/pinned_pool.hpp>

#include <pinwarden/core/bytes.hpp>
#include <pinwarden/core/error.hpp>

#include <utility>

#include "pool/pool_cache.hpp"

namespace pinwarden {

PinnedPool::PinnedPool(PinBackendPtr backing, std::size_t limit_bytes)
    : backing_(std::move(backing)), cache_(std::make_unique<detail::PoolCache>(backing_, limit_bytes)) {}

PinnedPool::~PinnedPool() { cache_->trim(0); }

std::size_t PinnedPool::trim(std::size_t keep_bytes) noexcept { return cache_->trim(keep_bytes); }

PoolStatistics PinnedPool::statistics() const noexcept { return cache_->statistics(); }

std::string_view PinnedPool::name() const noexcept { return backing_->name(); }

bool PinnedPool::pins() const noexcept { return backing_->pins(); }

HostBlock PinnedPool::allocate(std::size_t bytes) {
    // Whole pages, so that the block serves every size of as many pages, whatever the backing makes of a size.
    const std::size_t whole = round_up(bytes, page_bytes());
    HostBlock block;
    try {
        block = backing_->allocate(whole);
    } catch (const PinError&) {
        if (cache_->trim(0) == 0) throw;
        block = backing_->allocate(whole);
    }
    block.bytes = bytes;
    return block;
}

UnpinAnswer PinnedPool::deallocate(const HostBlock& block) noexcept {
    HostBlock whole = block;
    whole.bytes = detail::whole_pages(block.bytes);
    return backing_->deallocate(whole);
}

HostBlock PinnedPool::register_memory(std::byte* address, std::size_t bytes) {
    return backing_->register_memory(address, bytes);
}

UnpinAnswer PinnedPool::unregister_memory(const HostBlock& block) noexcept {
    return backing_->unregister_memory(block);
}

bool PinnedPool::is_device_pinned(const HostBlock& block) const noexcept {
    return backing_->is_device_pinned(block);
}

audit::BlockCache* PinnedPool::cache() noexcept { return cache_.get(); }

}  // namespace pinwarden
