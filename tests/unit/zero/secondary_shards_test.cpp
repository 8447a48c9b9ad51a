// SPDX-License-Identifier: Apache-2.0
#include "zero/secondary_shards.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include <pinwarden/accelerator/cpu_accelerator.hpp>
#include <pinwarden/accelerator/device_buffer.hpp>
#include <pinwarden/zero/thread_ranks.hpp>

#include <support/rank_check.hpp>

using namespace pinwarden;
using pinwarden::testing::ensure;

namespace {

const std::vector<float> values(100, 1.0F);

// Two segments of five and of one elements.
zero::EngineLayout layout_of(std::size_t ranks, std::size_t rank) {
    std::vector<zero::ParameterGroup> groups(1);
    for (const std::size_t elements : {5U, 1U})
        groups[0].parameters.push_back({"p", gsl::span<const float>(values).first(elements)});
    return zero::make_layout(
        groups, {.stage = 3, .sub_group_size = 5, .reduce_bucket_size = 5, .ranks = ranks, .rank = rank});
}

std::byte pattern(std::size_t position) { return static_cast<std::byte>(position + 1); }

}  // namespace

TEST_CASE("The last secondary shard is shorter, and padded with zeros") {
    for (const bool on_host : {false, true}) {
        zero::run_ranks(3, [&](const zero::CommunicatorPtr& node) {
            const auto accelerator = make_cpu_accelerator();
            const auto stream = accelerator->create_stream("test");
            const auto layout = layout_of(3, node->rank());
            const std::size_t bytes = zero::SecondaryShards::size_bytes(layout, 3);
            // Two elements of the five and one of the one, on each rank.
            ensure(bytes == (2 + 1) * 2);
            auto block = on_host ? zero::OffloadableState::on_host(
                                       bytes, stream, {.pinning = Pinning::pageable}, Site::current())
                                 : zero::OffloadableState::on_device(bytes, stream, "secondary");
            block.write(std::vector<std::byte>(bytes));
            zero::SecondaryShards shards(layout, node, std::move(block));
            ensure(!shards.is_valid());

            DeviceBuffer<std::byte> gathered(10, stream);
            const auto whole = gathered.device_span();
            for (std::size_t segment = 0; segment < 2; ++segment) {
                const std::size_t size = segment == 0 ? 10 : 2;
                stream->launch([whole, size, segment] {
                    for (std::size_t i = 0; i < size; ++i) whole[i] = pattern(segment * 20 + i);
                });
                shards.keep(0, segment, whole.first(size));
            }
            stream->synchronize();
            shards.validate();
            ensure(shards.is_valid());

            std::vector<std::byte> own(bytes);
            shards.block().read(own);
            const std::vector<std::vector<int>> expected{
                {1, 2, 3, 4, 21, 22}, {5, 6, 7, 8, 0, 0}, {9, 10, 0, 0, 0, 0}};
            for (std::size_t i = 0; i < bytes; ++i)
                ensure(std::to_integer<int>(own[i]) == expected[node->rank()][i]);

            for (std::size_t segment = 0; segment < 2; ++segment) {
                const std::size_t size = segment == 0 ? 10 : 2;
                stream->launch([whole] { std::fill(whole.begin(), whole.end(), std::byte{0xEE}); });
                shards.gather(0, segment, whole.first(size), *stream);
                stream->synchronize();
                for (std::size_t i = 0; i < size; ++i) ensure(whole[i] == pattern(segment * 20 + i));
            }
            shards.invalidate();
            ensure(!shards.is_valid());
        });
    }
}
