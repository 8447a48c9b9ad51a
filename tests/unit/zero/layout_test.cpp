// SPDX-License-Identifier: Apache-2.0
#include "zero/layout.hpp"

#include <cstddef>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using namespace pinwarden;

namespace {

const std::vector<float> values(100, 1.0F);

zero::Parameter parameter(std::size_t elements) {
    return {"p", gsl::span<const float>(values).first(elements)};
}

// Parameters of 5, 0, 1 and 10 elements; none; one of 7.
std::vector<zero::ParameterGroup> groups() {
    std::vector<zero::ParameterGroup> all(3);
    all[0].parameters = {parameter(5), parameter(0), parameter(1), parameter(10)};
    all[2].parameters = {parameter(7)};
    return all;
}

zero::EngineLayout layout_of(std::int64_t stage, std::size_t ranks, std::size_t rank) {
    return zero::make_layout(
        groups(),
        {.stage = stage, .sub_group_size = 6, .reduce_bucket_size = 8, .ranks = ranks, .rank = rank});
}

}  // namespace

TEST_CASE("Stages divide more and more") {
    REQUIRE_FALSE(zero::plan_of(1).divides_gradients);
    REQUIRE(zero::plan_of(2).divides_gradients);
    REQUIRE_FALSE(zero::plan_of(2).divides_parameters);
    REQUIRE(zero::plan_of(3).divides_gradients);
    REQUIRE(zero::plan_of(3).divides_parameters);
    REQUIRE(zero::plan_of(3).flat_states);
}

TEST_CASE("Stages 1 and 2 divide whole groups") {
    const auto layout = layout_of(2, 4, 3);
    REQUIRE(layout.elements == 23);
    REQUIRE(layout.largest_segment == 16);
    REQUIRE(layout.groups.size() == 3);
    REQUIRE(layout.groups[0].segments.size() == 1);
    REQUIRE(layout.groups[1].segments.empty());
    const auto& last = layout.groups[2];
    REQUIRE(last.begin == 16);
    REQUIRE(last.segments[0].counts == std::vector<std::size_t>{2, 2, 2, 1});
    REQUIRE(last.segments[0].mine_begin == 22);
    REQUIRE(last.shard_elements == 1);
    REQUIRE(last.shard_begin == 4);
    REQUIRE(layout.shard_elements == 5);
}

TEST_CASE("Stage 3 divides runs of whole parameters") {
    const auto layout = layout_of(3, 2, 1);
    const auto& segments = layout.groups[0].segments;
    REQUIRE(segments.size() == 2);
    REQUIRE(segments[0].elements == 6);
    REQUIRE(segments[1].elements == 10);
    REQUIRE(segments[1].begin == 6);
    REQUIRE(segments[1].mine_begin == 11);
    REQUIRE(segments[1].shard_begin == 3);
    REQUIRE(layout.largest_segment == 10);
    REQUIRE(layout.sub_groups.size() == 3);
}

TEST_CASE("Shards and sub-groups of all ranks cover every element once") {
    for (const std::int64_t stage : {1, 2, 3}) {
        for (const std::size_t ranks : {1U, 2U, 3U, 4U, 30U}) {
            CAPTURE(stage, ranks);
            std::vector<int> covered(23, 0);
            for (std::size_t rank = 0; rank < ranks; ++rank) {
                const auto layout = layout_of(stage, ranks, rank);
                std::size_t elements = 0;
                std::vector<std::size_t> next(layout.groups.size(), 0);
                for (const auto& sub_group : layout.sub_groups) {
                    REQUIRE(sub_group.elements > 0);
                    REQUIRE(sub_group.begin == next[sub_group.group]);
                    next[sub_group.group] += sub_group.elements;
                    elements += sub_group.elements;
                    for (std::size_t i = 0; i < sub_group.elements; ++i)
                        ++covered.at(sub_group.global_begin + i);
                    if (stage < 3) REQUIRE(sub_group.elements <= 6);
                }
                REQUIRE(elements == layout.shard_elements);
            }
            REQUIRE(covered == std::vector<int>(23, 1));
        }
    }
}

TEST_CASE("Counts within a range are those of the pieces in it") {
    const zero::Segment segment{.begin = 10, .elements = 7, .counts = {3, 3, 1}};
    using Counts = std::vector<std::size_t>;
    REQUIRE(zero::counts_within(segment, 0, 100) == Counts{3, 3, 1});
    REQUIRE(zero::counts_within(segment, 12, 14) == Counts{1, 1, 0});
    REQUIRE(zero::counts_within(segment, 16, 17) == Counts{0, 0, 1});
    REQUIRE(zero::counts_within(segment, 17, 20) == Counts{0, 0, 0});
}
