// SPDX-License-Identifier: Apache-2.0
#include "cuda/chunked_ranges.hpp"

#include <cstdint>

#include <catch2/catch_test_macros.hpp>

namespace pinwarden::testing {
namespace {

using cuda::detail::ChunkedRanges;

constexpr std::size_t chunk = ChunkedRanges::chunk_bytes;

std::byte* at(std::uintptr_t address) { return reinterpret_cast<std::byte*>(address); }

TEST_CASE("Memory of no range is copied in one piece", "[cuda]") {
    ChunkedRanges ranges;
    CHECK(ranges.in_one_piece(at(0x1000), 5 * chunk) == 5 * chunk);
    ranges.add(ChunkedRanges::make_node(), {at(0x7000'0000'0000), 2 * chunk});
    CHECK(ranges.in_one_piece(at(0x1000), 5 * chunk) == 5 * chunk);
    CHECK(ranges.in_one_piece(at(0x7000'0000'0000) + 2 * chunk, 5 * chunk) == 5 * chunk);
}

TEST_CASE("A piece ends where a chunk does", "[cuda]") {
    ChunkedRanges ranges;
    std::byte* const first = at(0x7000'0000'1000);
    ranges.add(ChunkedRanges::make_node(), {first, 2 * chunk + 4096});
    CHECK(ranges.in_one_piece(first, chunk) == chunk);
    CHECK(ranges.in_one_piece(first, chunk + 1) == chunk);
    CHECK(ranges.in_one_piece(first + 1, chunk) == chunk - 1);
    CHECK(ranges.in_one_piece(first + chunk - 1, 7) == 1);
    CHECK(ranges.in_one_piece(first + chunk, 7) == 7);
    CHECK(ranges.in_one_piece(first + 2 * chunk, 4096) == 4096);
}

TEST_CASE("A range that was removed has no pieces any more", "[cuda]") {
    ChunkedRanges ranges;
    std::byte* const first = at(0x7000'0000'0000);
    std::byte* const second = first + 4 * chunk;
    for (std::byte* range : {first, second}) ranges.add(ChunkedRanges::make_node(), {range, 2 * chunk});
    ranges.remove(first);
    ranges.remove(first);
    CHECK(ranges.in_one_piece(first, 2 * chunk) == 2 * chunk);
    CHECK(ranges.in_one_piece(second, 2 * chunk) == chunk);
}

}  // namespace
}  // namespace pinwarden::testing
