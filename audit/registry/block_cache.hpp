// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// What the registry asks of a pool: to keep entries whose handles are gone, and to give them out again.
///
/// A kept entry stays in the index of addresses and stays locked; only its state changes. So a block that changes
/// hands is never unknown to the audit, and its record never names two owners.

#include <cstddef>

#include <pinwarden/backend/pin_backend.hpp>

#include "registry/entry.hpp"

namespace pinwarden::audit {

/// Thread-safe. No mutex of the registry is held when it is called.
class BlockCache {
public:
    /// A kept entry whose block serves `bytes`; it is the caller's from then on. Null if there is none.
    /// @throws std::bad_alloc
    [[nodiscard]] virtual Entry* take(std::size_t bytes) = 0;

    /// Keeps `entry`, which is cached and which no copy uses any more; somebody else may own it when this returns.
    /// @returns whether it was kept; the caller releases it otherwise.
    [[nodiscard]] virtual bool keep(Entry& entry) noexcept = 0;

    /// The backend that pinned the blocks and that will unpin them.
    [[nodiscard]] virtual const PinBackendPtr& backing() const noexcept = 0;

protected:
    BlockCache() = default;
    BlockCache(const BlockCache&) = default;
    BlockCache& operator=(const BlockCache&) = default;
    ~BlockCache() = default;
};

}  // namespace pinwarden::audit
