// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/audit/pin_record.hpp>

#include <utility>

#include <catch2/catch_test_macros.hpp>

namespace pinwarden::audit {

TEST_CASE("Every state has the name that reports use", "[audit]") {
    CHECK(to_string(PinState::live) == "live");
    CHECK(to_string(PinState::cached) == "cached");
    CHECK(to_string(PinState::in_flight) == "in_flight");
    CHECK(to_string(PinState::quarantined) == "quarantined");
}

TEST_CASE("Counts are reached by state, each apart from the others", "[audit]") {
    Counts counts;
    counts.of(PinState::live) = {1, 10, 100};
    counts.of(PinState::cached) = {2, 20, 200};
    counts.of(PinState::in_flight) = {3, 30, 300};
    counts.of(PinState::quarantined) = {4, 40, 400};
    CHECK(counts.live == Tally{1, 10, 100});
    CHECK(counts.cached == Tally{2, 20, 200});
    CHECK(counts.in_flight == Tally{3, 30, 300});
    CHECK(counts.quarantined == Tally{4, 40, 400});
    CHECK(counts.left_to_system == Tally{});
    CHECK(std::as_const(counts).of(PinState::in_flight).bytes == 30);
}

TEST_CASE("What is locked is the sum of all states but what was left to the system", "[audit]") {
    const Counts counts{{1, 1, 1}, {1, 1, 20}, {1, 1, 300}, {1, 1, 4000}, {1, 1, 50000}};
    CHECK(counts.locked_bytes() == 4321);
}

}  // namespace pinwarden::audit
