// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The accounts of a CUDA accelerator's memory.
///
/// The driver gives memory back in the order of a stream and does not say when. So each free is followed by
/// an event, and a block counts as in use until that event is complete.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include <pinwarden/accelerator/accelerator.hpp>

#include "cuda/device_event.hpp"

namespace pinwarden::cuda::detail {

/// Thread-safe; no mutex is held over a driver call.
class DeviceBlocks {
public:
    struct Block {
        std::size_t bytes = 0;
        std::uint64_t stream =
            0;  ///< whose order the free is in; 0 if the free failed, and the block is lost
        std::uint64_t number = 0;  ///< of the free
        DeviceEvent freed{};       ///< behind the free; empty if it could not be recorded
    };
    using Blocks = std::map<const std::byte*, Block>;

    explicit DeviceBlocks(std::size_t capacity) noexcept : capacity_(capacity) {}

    /// Room for the record of one block, so that nothing can fail once its memory is there.
    /// @throws std::bad_alloc
    [[nodiscard]] static Blocks::node_type make_node();

    void add(Blocks::node_type node, const std::byte* address, std::size_t bytes) noexcept;

    /// Takes a block out of use before it is freed; it counts until its free has run.
    /// @returns an empty node if no block starts at `address` or its size is not `bytes`.
    [[nodiscard]] Blocks::node_type withdraw(const std::byte* address, std::size_t bytes) noexcept;

    /// Keeps a withdrawn block until its free has run.
    void defer(Blocks::node_type node) noexcept;

    /// A number above that of all frees deferred so far.
    [[nodiscard]] std::uint64_t next_number() const noexcept;

    /// Ends the account of the blocks whose free has run.
    void collect() noexcept;

    /// The same for blocks freed without an event on `stream`, up to `number`, after the stream was waited
    /// for.
    void collect_without_event(std::uint64_t stream, std::uint64_t number) noexcept;

    /// Whether all of these bytes lie in one block that has not been withdrawn.
    [[nodiscard]] bool holds(const std::byte* address, std::size_t bytes) const noexcept;

    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
    [[nodiscard]] DeviceMemoryUsage usage() const noexcept;

private:
    using Deferred =
        std::multimap<const std::byte*, Block>;  // the driver may give an address out again before

    template <typename HasRun>
    void collect_if(HasRun has_run) noexcept;

    const std::size_t capacity_;
    mutable std::mutex mutex_;
    Blocks blocks_;
    Deferred deferred_;
    std::atomic<std::size_t> waiting_{0};  // in `deferred_`, or in the hands of a thread that collects
    std::uint64_t last_number_ = 0;
    std::size_t in_use_ = 0;
    std::size_t peak_ = 0;
    std::size_t allocations_ = 0;
};

}  // namespace pinwarden::cuda::detail
