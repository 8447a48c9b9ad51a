// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The blocks that a pool keeps, behind a mutex, and a process's own: none of them crosses a fork.

#include <atomic>
#include <cstddef>

#include <pinwarden/backend/pin_backend.hpp>
#include <pinwarden/pool/pinned_pool.hpp>

#include "registry/block_cache.hpp"

namespace pinwarden::detail {

/// The bytes of the pages that hold `bytes` of a block that exists.
[[nodiscard]] std::size_t whole_pages(std::size_t bytes) noexcept;

/// Thread-safe; no mutex is held while blocks are unpinned.
class PoolCache final : public audit::BlockCache {
public:
    PoolCache(PinBackendPtr backing, std::size_t limit_bytes);
    PoolCache(const PoolCache&) = delete;
    PoolCache& operator=(const PoolCache&) = delete;
    ~PoolCache();

    [[nodiscard]] audit::Entry* take(std::size_t bytes) override;
    [[nodiscard]] bool keep(audit::Entry& entry) noexcept override;
    [[nodiscard]] const PinBackendPtr& backing() const noexcept override { return backing_; }

    /// Unpins the longest unused until at most `keep_bytes` are cached. @returns the bytes it unpinned.
    std::size_t trim(std::size_t keep_bytes) noexcept;

    [[nodiscard]] PoolStatistics statistics() const noexcept;

private:
    struct Shelf;

    // This process's blocks. After a fork the parent's are left alone for good, mutex included: a thread that is not
    // in the child may have held it.
    // @returns null if there is no memory to begin anew in a child.
    [[nodiscard]] Shelf* shelf() const noexcept;

    const PinBackendPtr backing_;
    const std::size_t limit_bytes_;
    mutable std::atomic<Shelf*> shelf_;
};

}  // namespace pinwarden::detail
