// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Reuse of pinned blocks: a backend that keeps what handles give back, for the next handle of the same size.
///
/// Pass it where a backend is asked for; the handles are the same as ever. A block is kept once no recorded copy uses
/// it any more, on the host; until then it counts as in flight. What is kept counts as *cached*, apart from what is
/// live. A block whose unpin failed is quarantined and never comes back.
///
/// Blocks are whole pages and serve any size of as many pages, so nothing more is locked than handles ask for; sizes
/// that never return are kept in vain until they are the oldest and the limit drops them. Elements of a reused block
/// have unspecified values: those of its last owner. Registrations pass through, since their memory is not ours.
///
/// Cost: a pin and its unpin together less than 200 ns where a block can be reused, a system call each way where not.
///
/// ```
/// const auto pool = std::make_shared<pinwarden::PinnedPool>(pinwarden::native_backend(), 256 << 20);
/// pinwarden::PinnedBuffer<float> staging(1 << 14, {.backend = pool, .label = "staging"});
/// ```
///
/// A pool lives as long as somebody holds it or a handle made through it, and unpins what it has cached at its end.
/// In a child of `fork()` it begins empty: what the parent cached is the parent's.

#include <cstddef>
#include <memory>
#include <string_view>

#include <pinwarden/backend/pin_backend.hpp>
#include <pinwarden/core/export.hpp>

namespace pinwarden {

namespace detail {
class PoolCache;
}

/// What a pool did and has.
struct PoolStatistics {
    std::size_t reused = 0;          ///< handles that were given a cached block
    std::size_t cached_blocks = 0;   ///< blocks that it keeps now
    std::size_t cached_bytes = 0;    ///< their whole pages
};

/// A backend over another one, its backing, that keeps blocks for reuse. Thread-safe.
class PINWARDEN_API PinnedPool final : public PinBackend {
public:
    /// Keeps at most `limit_bytes` cached; beyond it the blocks that lay unused the longest are unpinned.
    /// @pre `backing` is not null and no pool itself
    /// @throws std::bad_alloc
    explicit PinnedPool(PinBackendPtr backing, std::size_t limit_bytes);
    ~PinnedPool() override;

    /// Unpins cached blocks, the longest unused first, until at most `keep_bytes` are cached.
    /// @returns the bytes that were given back to the backing, whose failures are reported as those of handles are.
    std::size_t trim(std::size_t keep_bytes = 0) noexcept;

    [[nodiscard]] PoolStatistics statistics() const noexcept;

    /// The backing's name: a pool decides whether blocks are reused, not how they are pinned.
    [[nodiscard]] std::string_view name() const noexcept override;
    [[nodiscard]] bool pins() const noexcept override;

    /// A new block of whole pages. If that is refused while blocks are cached, those are unpinned to make room, and
    /// the backing is asked once more. Handles look for a cached block before they call this.
    [[nodiscard]] HostBlock allocate(std::size_t bytes) override;
    [[nodiscard]] UnpinAnswer deallocate(const HostBlock& block) noexcept override;
    [[nodiscard]] HostBlock register_memory(std::byte* address, std::size_t bytes) override;
    [[nodiscard]] UnpinAnswer unregister_memory(const HostBlock& block) noexcept override;
    [[nodiscard]] bool is_device_pinned(const HostBlock& block) const noexcept override;
    [[nodiscard]] audit::BlockCache* cache() noexcept override;

private:
    const PinBackendPtr backing_;
    const std::unique_ptr<detail::PoolCache> cache_;
};

}  // namespace pinwarden
