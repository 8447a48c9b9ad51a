// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/core/bytes.hpp>

#include <pinwarden/core/error.hpp>

#include <bit>
#include <limits>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <unistd.h>

namespace pinwarden {

namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

constexpr std::size_t largest = std::numeric_limits<std::size_t>::max();

}  // namespace

TEST_CASE("The size of a page is the kernel's and a power of two", "[core]") {
    CHECK(page_bytes() == static_cast<std::size_t>(::getpagesize()));
    CHECK(std::has_single_bit(page_bytes()));
}

TEST_CASE("A product of sizes is exact up to the largest number there is", "[core]") {
    CHECK(checked_bytes(0, 8) == 0);
    CHECK(checked_bytes(8, 0) == 0);
    CHECK(checked_bytes(3, 4) == 12);
    CHECK(checked_bytes(largest, 1) == largest);
    CHECK(checked_bytes(largest / 8, 8) == largest - 7);
}

TEST_CASE("A product of sizes that does not fit is an error that names both factors", "[core]") {
    CHECK_THROWS_AS(checked_bytes(largest / 2 + 1, 2), SizeError);
    CHECK_THROWS_AS(checked_bytes(largest, largest), SizeError);
    // The product of these two wraps around to zero, which must not be mistaken for an empty block.
    CHECK_THROWS_AS(checked_bytes(std::size_t{1} << 32, std::size_t{1} << 32), SizeError);
    CHECK_THROWS_MATCHES(
        checked_bytes(largest / 4, 8), SizeError,
        MessageMatches(ContainsSubstring(std::to_string(largest / 4)) && ContainsSubstring("8 bytes each")));
}

TEST_CASE("Sizes are rounded up to whole granules, and stay if they are whole", "[core]") {
    CHECK(round_up(0, 4096) == 0);
    CHECK(round_up(1, 4096) == 4096);
    CHECK(round_up(4095, 4096) == 4096);
    CHECK(round_up(4096, 4096) == 4096);
    CHECK(round_up(4097, 4096) == 8192);
    CHECK(round_up(17, 1) == 17);
    CHECK(round_up(largest - 4095, 4096) == largest - 4095);
}

TEST_CASE("Rounding up past the largest number is an error", "[core]") {
    CHECK_THROWS_MATCHES(
        round_up(largest - 4094, 4096), SizeError,
        MessageMatches(ContainsSubstring(std::to_string(largest - 4094)) && ContainsSubstring("4096")));
    CHECK_THROWS_AS(round_up(largest, 2), SizeError);
}

TEST_CASE("A size is printed exactly, and in the binary unit that people read", "[core]") {
    CHECK(format_bytes(0) == "0 bytes");
    CHECK(format_bytes(1023) == "1023 bytes");
    CHECK(format_bytes(1024) == "1024 bytes (1.0 KiB)");
    CHECK(format_bytes(1536) == "1536 bytes (1.5 KiB)");
    CHECK(format_bytes(8388608) == "8388608 bytes (8.0 MiB)");
    CHECK(format_bytes(std::size_t{3} << 30) == "3221225472 bytes (3.0 GiB)");
    CHECK(format_bytes(std::size_t{1} << 40) == "1099511627776 bytes (1.0 TiB)");
    CHECK(format_bytes(largest) == "18446744073709551615 bytes (16.0 EiB)");
}

}  // namespace pinwarden
