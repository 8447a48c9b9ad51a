// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/zero/communicator.hpp>

#include <array>
#include <cstddef>
#include <limits>
#include <numeric>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using namespace pinwarden;
using zero::Reduction;

TEST_CASE("A single rank shares its data with nobody") {
    const auto ranks = zero::single_rank();
    REQUIRE(ranks->rank() == 0);
    REQUIRE(ranks->size() == 1);
    ranks->barrier();
    std::array<float, 3> data{1.0F, 2.0F, 3.0F};
    const std::array<std::size_t, 1> counts{3};
    ranks->reduce_scatter(data, counts);
    REQUIRE(data == std::array<float, 3>{1.0F, 2.0F, 3.0F});
    ranks->broadcast(gsl::as_writable_bytes(gsl::span<float>(data)), 0);
    const std::array<std::size_t, 1> sizes{sizeof(data)};
    ranks->all_gather(gsl::as_writable_bytes(gsl::span<float>(data)), sizes);
    REQUIRE(data == std::array<float, 3>{1.0F, 2.0F, 3.0F});
    REQUIRE(ranks->split(7)->size() == 1);
}

TEST_CASE("A single rank reduces values as many do") {
    const auto ranks = zero::single_rank();
    std::array<double, 2> values{5.0, 0.0};
    ranks->all_reduce(values, Reduction::sum);
    REQUIRE(values == std::array<double, 2>{5.0, 0.0});
    ranks->all_reduce(values, Reduction::maximum);
    REQUIRE(values == std::array<double, 2>{5.0, 0.0});
    ranks->all_reduce(values, Reduction::logical_or);
    REQUIRE(values == std::array<double, 2>{1.0, 0.0});
}

TEST_CASE("Sizes that do not belong to the data are refused") {
    const auto ranks = zero::single_rank();
    std::array<float, 3> data{};
    const auto bytes = gsl::as_writable_bytes(gsl::span<float>(data));
    const std::array<std::size_t, 1> wrong{2};
    const std::array<std::size_t, 2> too_many{1, 2};
    REQUIRE_THROWS_AS(ranks->reduce_scatter(data, wrong), zero::CommunicationError);
    REQUIRE_THROWS_AS(ranks->reduce_scatter(data, too_many), zero::CommunicationError);
    REQUIRE_THROWS_AS(ranks->all_gather(bytes, wrong), zero::CommunicationError);
    REQUIRE_THROWS_AS(ranks->broadcast(bytes, 1), zero::CommunicationError);
}

TEST_CASE("Parts are equal as long as elements last, and none is lost") {
    using Sizes = std::vector<std::size_t>;
    REQUIRE(zero::partition_sizes(8, 4) == Sizes{2, 2, 2, 2});
    REQUIRE(zero::partition_sizes(7, 4) == Sizes{2, 2, 2, 1});
    REQUIRE(zero::partition_sizes(5, 4) == Sizes{2, 2, 1, 0});
    REQUIRE(zero::partition_sizes(1, 4) == Sizes{1, 0, 0, 0});
    REQUIRE(zero::partition_sizes(0, 4) == Sizes{0, 0, 0, 0});
    REQUIRE(zero::partition_sizes(9, 1) == Sizes{9});
    constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
    const auto largest = zero::partition_sizes(most, 2);
    REQUIRE(largest[0] + largest[1] == most);
    REQUIRE(largest[0] == most / 2 + 1);
}
