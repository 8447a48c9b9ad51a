// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// ZeRO++ hpZ: the parameters a second time, divided among the ranks of one node, so that they are gathered
/// without leaving the node until the next step makes them stale.

#include <cstddef>
#include <memory>
#include <vector>

#include <gsl/span>

#include <pinwarden/zero/communicator.hpp>
#include <pinwarden/zero/offloadable_state.hpp>

#include "zero/layout.hpp"

namespace pinwarden::zero {

/// This rank's secondary shards of all segments. Each has the same size on all ranks of the node; where a
/// segment does not divide evenly, the last ones are shorter and padded with zeros.
class SecondaryShards {
public:
    /// The size of the block that holds them.
    [[nodiscard]] static std::size_t size_bytes(const EngineLayout& layout, std::size_t node_ranks);

    /// @param block filled with zeros, of size_bytes()
    /// @param node the ranks of this rank's node
    /// @throws std::bad_alloc
    SecondaryShards(const EngineLayout& layout, CommunicatorPtr node, OffloadableState block);

    /// Whether they hold the parameters of the last step.
    [[nodiscard]] bool is_valid() const noexcept { return valid_; }
    void validate() noexcept { valid_ = true; }
    void invalidate() noexcept { valid_ = false; }

    /// Queues the copy of this rank's part of a gathered segment to its shard.
    void keep(std::size_t group, std::size_t segment, gsl::span<const std::byte> gathered);

    /// Queues the copy of this rank's shard to its place in `gathered`, and the gathering of the others'.
    void gather(std::size_t group, std::size_t segment, gsl::span<std::byte> gathered, Stream& stream) const;

    [[nodiscard]] const OffloadableState& block() const noexcept { return block_; }

private:
    struct Slot {
        std::size_t offset = 0;            // in the block, in bytes
        std::vector<std::size_t> sizes{};  // bytes of each rank of the node, padding not counted
        std::size_t mine_begin = 0;        // of this rank's part in the segment, in bytes
    };
    [[nodiscard]] const Slot& slot(std::size_t group, std::size_t segment) const {
        return slots_[first_slot_[group] + segment];
    }

    CommunicatorPtr node_;
    OffloadableState block_;
    std::vector<Slot> slots_;
    std::vector<std::size_t> first_slot_;  // of each group
    bool valid_ = false;
};

}  // namespace pinwarden::zero
