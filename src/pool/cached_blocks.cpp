// SPDX-License-Identifier: Apache-2.0
#include "pool/cached_blocks.hpp"

#include "pool/pool_cache.hpp"

namespace pinwarden::detail {

using audit::Entry;

CachedBlocks::Size* CachedBlocks::find(std::size_t bytes) noexcept {
    if (recent_ != nullptr && recent_->bytes == bytes) return recent_;
    const auto found = sizes_.find(bytes);
    if (found == sizes_.end()) return nullptr;
    recent_ = &found->second;
    return recent_;
}

Entry* CachedBlocks::take(std::size_t bytes) {
    Size* size = find(bytes);
    if (size == nullptr) size = &sizes_.try_emplace(bytes, Size{bytes, {}}).first->second;
    Entry* const entry = size->entries.newest();
    if (entry != nullptr) remove(*size, *entry);
    return entry;
}

bool CachedBlocks::add(Entry& entry, std::size_t bytes) noexcept {
    Size* const size = find(bytes);
    if (size == nullptr) return false;
    size->entries.add(entry);
    all_.add(entry);
    ++count_;
    bytes_ += bytes;
    return true;
}

Entry* CachedBlocks::take_oldest() noexcept {
    Entry* const entry = all_.oldest();
    remove(*find(whole_pages(entry->block.bytes)), *entry);
    return entry;
}

void CachedBlocks::remove(Size& size, Entry& entry) noexcept {
    size.entries.remove(entry);
    all_.remove(entry);
    --count_;
    bytes_ -= size.bytes;
}

}  // namespace pinwarden::detail
