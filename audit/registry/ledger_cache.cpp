// SPDX-License-Identifier: Apache-2.0
#include "registry/ledger.hpp"

#include <string>
#include <utility>

#include "registry/block_cache.hpp"
#include "registry/memory_tools.hpp"

namespace pinwarden::audit {

Entry* Ledger::take(const PinBackendPtr& backend, std::size_t bytes, std::string_view label, const ScopeRef& scope,
                    const Site& site, std::vector<const void*>& stack) {
    BlockCache* const cache = backend->cache();
    if (cache == nullptr) return nullptr;
    sweep();  // what has completed may be what is wanted
    std::string fresh_label(label);
    std::vector<CompletionTokenPtr> fresh_uses;
    fresh_uses.reserve(1);  // as reserve() does
    Entry* const entry = cache->take(bytes);
    if (entry == nullptr) return nullptr;
    // Look-ups read the size without the shard's mutex, so it changes while the block is not filed.
    const bool resized = entry->block.bytes != bytes;
    if (resized && entry->pinned) index_.erase(*entry);
    ScopeRef fresh_scope = scope;
    PinBackendPtr owner = backend;
    {
        const detail::CriticalSection lock(entry->shard->mutex);
        recount(*entry, EntryState::releasing);
        entry->block.bytes = bytes;
        entry->label.swap(fresh_label);
        entry->uses.swap(fresh_uses);
        std::swap(entry->scope, fresh_scope);
        entry->backend.swap(owner);
        entry->site = site;
        entry->stack.swap(stack);
        entry->number = ++entry->shard->numbers;
        entry->thread = std::this_thread::get_id();
        entry->pinned_at = std::chrono::steady_clock::now();
        recount(*entry, EntryState::live);
    }
    memory_tools::begin(entry->block);
    if (resized && entry->pinned) index_.insert(*entry);
    return entry;
}

bool Ledger::keep(Entry& entry) noexcept {
    BlockCache* const cache = entry.registered ? nullptr : entry.backend->cache();
    if (cache == nullptr) return false;
    memory_tools::end(entry.block);
    ScopeRef scope;
    std::vector<CompletionTokenPtr> uses;  // which reports may be reading until the entry is in flight no more
    // While the entry is kept it must not keep its pool alive. The pool may end with this call, but not before it.
    PinBackendPtr owner = cache->backing();
    {
        const detail::CriticalSection lock(entry.shard->mutex);
        entry.pooled = true;
        std::swap(entry.scope, scope);
        entry.uses.swap(uses);
        entry.backend.swap(owner);
        recount(entry, EntryState::cached);
    }
    return cache->keep(entry);
}

}  // namespace pinwarden::audit
