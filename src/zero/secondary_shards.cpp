// SPDX-License-Identifier: Apache-2.0
#include "zero/secondary_shards.hpp"

#include <utility>

#include "zero/kernels.hpp"

namespace pinwarden::zero {
namespace {

std::size_t padded_bytes(const Segment& segment, std::size_t node_ranks) {
    return partition_sizes(segment.elements, node_ranks).front() * lp_bytes;
}

}  // namespace

std::size_t SecondaryShards::size_bytes(const EngineLayout& layout, std::size_t node_ranks) {
    std::size_t bytes = 0;
    for (const auto& group : layout.groups) {
        for (const auto& segment : group.segments) bytes += padded_bytes(segment, node_ranks);
    }
    return bytes;
}

SecondaryShards::SecondaryShards(const EngineLayout& layout, CommunicatorPtr node, OffloadableState block)
    : node_(std::move(node)), block_(std::move(block)) {
    std::size_t offset = 0;
    for (const auto& group : layout.groups) {
        first_slot_.push_back(slots_.size());
        for (const auto& segment : group.segments) {
            Slot slot{.offset = offset, .sizes = partition_sizes(segment.elements, node_->size())};
            for (std::size_t& size : slot.sizes) size *= lp_bytes;
            for (std::size_t rank = 0; rank < node_->rank(); ++rank) slot.mine_begin += slot.sizes[rank];
            slots_.push_back(std::move(slot));
            offset += padded_bytes(segment, node_->size());
        }
    }
}

void SecondaryShards::keep(std::size_t group, std::size_t segment, gsl::span<const std::byte> gathered) {
    const Slot& own = slot(group, segment);
    block_.copy_from_device(own.offset, gathered.subspan(own.mine_begin, own.sizes[node_->rank()]));
}

void SecondaryShards::gather(std::size_t group, std::size_t segment, gsl::span<std::byte> gathered,
                             Stream& stream) const {
    const Slot& own = slot(group, segment);
    block_.copy_to_device(own.offset, gathered.subspan(own.mine_begin, own.sizes[node_->rank()]));
    if (node_->size() == 1) return;
    stream.launch([node = node_, sizes = own.sizes, gathered] { node->all_gather(gathered, sizes); });
}

}  // namespace pinwarden::zero
