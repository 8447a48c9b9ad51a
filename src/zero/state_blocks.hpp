// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The memory of one state of an engine: a block per group, or one flat block of which each group has a part.
///
/// Parts are views that are made anew on each call: none is kept, so none outlives the place it points to
/// when a block moves.

#include <cstddef>
#include <utility>
#include <vector>

#include <gsl/span>

#include <pinwarden/zero/offloadable_state.hpp>

namespace pinwarden::zero {

/// Blocks and their parts, one part per group in the order of the groups. Moves with its blocks.
class StateBlocks {
public:
    /// Adds a block that holds the given parts, one after the other.
    void add(OffloadableState block, gsl::span<const std::size_t> part_bytes) {
        std::size_t offset = 0;
        for (const std::size_t bytes : part_bytes) {
            parts_.push_back({.block = blocks_.size(), .offset = offset, .bytes = bytes});
            offset += bytes;
        }
        blocks_.push_back(std::move(block));
    }

    [[nodiscard]] std::vector<OffloadableState>& blocks() noexcept { return blocks_; }
    [[nodiscard]] const std::vector<OffloadableState>& blocks() const noexcept { return blocks_; }

    [[nodiscard]] std::size_t part_count() const noexcept { return parts_.size(); }
    [[nodiscard]] std::size_t part_bytes(std::size_t group) const { return parts_[group].bytes; }

    /// A group's bytes, wherever they are; see OffloadableState for who may touch them.
    [[nodiscard]] gsl::span<std::byte> part(std::size_t group) {
        const Part& part = parts_[group];
        OffloadableState& block = blocks_[part.block];
        const auto bytes =
            block.location() == StateLocation::device ? block.device_bytes() : block.host_bytes();
        return bytes.subspan(part.offset, part.bytes);
    }

    /// The block that a group's part lies in.
    [[nodiscard]] const OffloadableState& block_of(std::size_t group) const {
        return blocks_[parts_[group].block];
    }
    /// Where in its block the part begins, in bytes.
    [[nodiscard]] std::size_t offset_of(std::size_t group) const { return parts_[group].offset; }

    void clear() noexcept {
        blocks_.clear();
        parts_.clear();
    }

private:
    struct Part {
        std::size_t block = 0;
        std::size_t offset = 0;
        std::size_t bytes = 0;
    };

    std::vector<OffloadableState> blocks_;
    std::vector<Part> parts_;
};

}  // namespace pinwarden::zero
