// SPDX-License-Identifier: Apache-2.0
#include "zero/layout.hpp"

#include <algorithm>

#include <pinwarden/zero/communicator.hpp>

namespace pinwarden::zero {
namespace {

std::vector<std::size_t> sizes_of(const ParameterGroup& group) {
    std::vector<std::size_t> sizes;
    for (const auto& parameter : group.parameters) sizes.push_back(parameter.initial.size());
    return sizes;
}

// Where a group's segments end, counted from its first element.
std::vector<std::size_t> segment_ends(const ParameterGroup& group, const StagePlan& plan,
                                      const LayoutOptions& options) {
    std::vector<std::size_t> ends;
    const auto sizes = sizes_of(group);
    // A bucket that holds everything is the whole group; whole parameters per bucket are the sub-groups.
    const std::size_t capacity = plan.divides_parameters ? options.sub_group_size : SIZE_MAX;
    for (const auto& run : make_gradient_buckets(sizes, capacity)) ends.push_back(run.end);
    return ends;
}

Segment make_segment(std::size_t begin, std::size_t elements, std::size_t shard_begin,
                     const LayoutOptions& options) {
    Segment segment{.begin = begin,
                    .elements = elements,
                    .counts = partition_sizes(elements, options.ranks),
                    .mine_begin = begin,
                    .shard_begin = shard_begin};
    for (std::size_t rank = 0; rank < options.rank; ++rank) segment.mine_begin += segment.counts[rank];
    segment.mine = segment.counts[options.rank];
    return segment;
}

// The pieces that this rank updates at a time.
void add_sub_groups(EngineLayout& layout, std::size_t group, std::size_t sub_group_size) {
    const auto& segments = layout.groups[group].segments;
    for (std::size_t index = 0; index < segments.size(); ++index) {
        const auto& segment = segments[index];
        const std::size_t most = layout.plan.divides_parameters ? segment.elements : sub_group_size;
        for (std::size_t begin = 0; begin < segment.mine;) {
            const std::size_t elements = std::min(most, segment.mine - begin);
            layout.sub_groups.push_back({.group = group,
                                         .segment = index,
                                         .begin = segment.shard_begin + begin,
                                         .elements = elements,
                                         .global_begin = segment.mine_begin + begin});
            begin += elements;
        }
    }
}

}  // namespace

StagePlan plan_of(std::int64_t stage) noexcept {
    return {.divides_gradients = stage >= 2,
            .divides_parameters = stage >= 3,
            .flat_states = stage >= 3,
            .keeps_bucket = stage < 3};
}

EngineLayout make_layout(gsl::span<const ParameterGroup> groups, const LayoutOptions& options) {
    EngineLayout layout{.plan = plan_of(options.stage), .ranks = options.ranks, .rank = options.rank};
    std::vector<std::size_t> all_sizes;
    for (const auto& source : groups) {
        GroupLayout group{.begin = layout.elements, .shard_begin = layout.shard_elements};
        for (const std::size_t end : segment_ends(source, layout.plan, options)) {
            auto segment = make_segment(group.begin + group.elements, end - group.elements,
                                        group.shard_elements, options);
            group.elements = end;
            group.shard_elements += segment.mine;
            layout.largest_segment = std::max(layout.largest_segment, segment.elements);
            group.segments.push_back(std::move(segment));
        }
        layout.elements += group.elements;
        layout.shard_elements += group.shard_elements;
        layout.groups.push_back(std::move(group));
        add_sub_groups(layout, layout.groups.size() - 1, options.sub_group_size);
        const auto sizes = sizes_of(source);
        all_sizes.insert(all_sizes.end(), sizes.begin(), sizes.end());
    }
    layout.buckets = make_gradient_buckets(all_sizes, options.reduce_bucket_size);
    for (const auto& bucket : layout.buckets) {
        layout.largest_bucket = std::max(layout.largest_bucket, bucket.size());
    }
    return layout;
}

std::vector<std::size_t> counts_within(const Segment& segment, std::size_t begin, std::size_t end) {
    std::vector<std::size_t> counts;
    counts.reserve(segment.counts.size());
    std::size_t piece_begin = segment.begin;
    for (const std::size_t count : segment.counts) {
        const std::size_t from = std::max(begin, piece_begin);
        const std::size_t to = std::min(end, piece_begin + count);
        counts.push_back(from < to ? to - from : 0);
        piece_begin += count;
    }
    return counts;
}

}  // namespace pinwarden::zero
