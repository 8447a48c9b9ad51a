// SPDX-License-Identifier: Apache-2.0
#include <command/train/random.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <array>
#include <cmath>

using namespace pinwarden::command;

namespace {

/// The high half of a 128-bit product, computed bit by bit.
std::uint64_t high_half(std::uint64_t a, std::uint64_t b) {
    std::uint64_t high = 0;
    std::uint64_t low = 0;
    for (int bit = 63; bit >= 0; --bit) {
        high = (high << 1U) | (low >> 63U);
        low <<= 1U;
        if (((a >> static_cast<unsigned>(bit)) & 1U) == 0) continue;
        low += b;
        if (low < b) ++high;
    }
    return high;
}

}  // namespace

TEST_CASE("The engine is the one whose sequence the standard fixes") {
    RandomEngine engine;
    engine.discard(9999);
    CHECK(engine() == 9981545732273789042ULL);
}

TEST_CASE("Bounded numbers are the high half of the product with the bound") {
    const std::uint64_t bound = GENERATE(1ULL, 2ULL, 77ULL, 0x1'0000'0001ULL, 0xffff'ffff'ffff'ffffULL);
    RandomEngine engine(5);
    RandomEngine same(5);
    for (int i = 0; i < 1000; ++i) {
        const std::uint64_t number = uniform_below(engine, bound);
        CHECK(number == high_half(same(), bound));
        CHECK(number < bound);
    }
}

TEST_CASE("Bounded numbers reach every value about equally often") {
    RandomEngine engine(1);
    std::array<int, 10> counts{};
    for (int i = 0; i < 100'000; ++i) ++counts[uniform_below(engine, counts.size())];
    for (const int count : counts) CHECK(std::abs(count - 10'000) < 500);
}

TEST_CASE("Unit numbers lie from zero up to one, around one half") {
    RandomEngine engine(1);
    double sum = 0.0;
    for (int i = 0; i < 100'000; ++i) {
        const double number = uniform_unit(engine);
        CHECK((number >= 0.0 && number < 1.0));
        sum += number;
    }
    CHECK(std::abs(sum / 100'000 - 0.5) < 0.005);
}
