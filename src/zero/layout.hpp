// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// How the parameters of an engine are cut for its ranks: what the stages differ in, as data.
///
/// All parameters of all groups lie one after the other; positions in that sequence are *global*. Each group
/// is cut into segments, each segment is divided among the ranks, and a rank's pieces of a group, one after
/// the other, are its *shard* of it. Stages 1 and 2 have one segment per group; stage 3 has one per sub-group
/// of whole parameters, so that each can be gathered by itself.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <gsl/span>

#include <pinwarden/zero/parameter_group.hpp>

#include "zero/gradient_buckets.hpp"

namespace pinwarden::zero {

/// What a stage divides among the ranks. Master parameters and moments are divided in all of them.
struct StagePlan {
    bool divides_gradients = false;   ///< lp_grads holds the shard only, reduced in every micro-batch
    bool divides_parameters = false;  ///< lp_params holds the shard only
    bool flat_states = false;         ///< one block of memory for all groups, of which each has a part
    bool keeps_bucket = true;         ///< contiguous_grad_buffer keeps its content when it is offloaded
};

/// @pre `stage` is 1, 2 or 3
[[nodiscard]] StagePlan plan_of(std::int64_t stage) noexcept;

/// A run of a group's elements that is divided among the ranks by itself.
struct Segment {
    std::size_t begin = 0;  ///< global
    std::size_t elements = 0;
    std::vector<std::size_t> counts{};  ///< elements of each rank
    std::size_t mine_begin = 0;         ///< global, of this rank's piece
    std::size_t mine = 0;               ///< elements of this rank's piece
    std::size_t shard_begin = 0;        ///< where that piece begins in this rank's shard of the group
};

/// One group.
struct GroupLayout {
    std::size_t begin = 0;  ///< global
    std::size_t elements = 0;
    std::size_t shard_begin = 0;  ///< among this rank's shards of all groups, one after the other
    std::size_t shard_elements = 0;
    std::vector<Segment> segments{};
};

/// What one rank updates at a time: a part of its piece of one segment.
struct SubGroup {
    std::size_t group = 0;
    std::size_t segment = 0;
    std::size_t begin = 0;  ///< in the shard of the group
    std::size_t elements = 0;
    std::size_t global_begin = 0;
};

/// The whole engine, as rank `rank` of `ranks` sees it.
struct EngineLayout {
    StagePlan plan{};
    std::size_t ranks = 1;
    std::size_t rank = 0;
    std::size_t elements = 0;
    std::size_t shard_elements = 0;
    std::size_t largest_segment = 0;
    std::size_t largest_bucket = 0;
    std::vector<GroupLayout> groups{};
    std::vector<GradientBucket> buckets{};
    std::vector<SubGroup> sub_groups{};
};

/// What the layout depends on besides the parameters.
struct LayoutOptions {
    std::int64_t stage = 2;
    std::size_t sub_group_size = 1;
    std::size_t reduce_bucket_size = 1;
    std::size_t ranks = 1;
    std::size_t rank = 0;
};

/// @throws std::bad_alloc
[[nodiscard]] EngineLayout make_layout(gsl::span<const ParameterGroup> groups, const LayoutOptions& options);

/// How many elements of the segment within the global range `[begin, end)` each rank has.
/// @throws std::bad_alloc
[[nodiscard]] std::vector<std::size_t> counts_within(const Segment& segment, std::size_t begin,
                                                     std::size_t end);

}  // namespace pinwarden::zero
