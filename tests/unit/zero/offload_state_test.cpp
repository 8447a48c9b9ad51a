// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/zero/offload_state.hpp>

#include <catch2/catch_test_macros.hpp>

using namespace pinwarden::zero;

TEST_CASE("The states and places have DeepSpeed's names") {
    REQUIRE(to_string(OffloadState::optim_states) == "optim_states");
    REQUIRE(to_string(OffloadState::hp_params) == "hp_params");
    REQUIRE(to_string(OffloadState::lp_params) == "lp_params");
    REQUIRE(to_string(OffloadState::lp_grads) == "lp_grads");
    REQUIRE(to_string(OffloadState::contiguous_grad_buffer) == "contiguous_grad_buffer");
    REQUIRE(to_string(StateLocation::device) == "device");
    REQUIRE(to_string(StateLocation::host) == "host");
}

TEST_CASE("A set of states holds what was put into it") {
    constexpr OffloadStates none;
    STATIC_REQUIRE(none.empty());
    STATIC_REQUIRE(none == OffloadStates{});
    for (const auto state : all_offload_states) {
        const OffloadStates one = state;
        REQUIRE(one == OffloadStates{state});
        REQUIRE_FALSE(one.empty());
        REQUIRE_FALSE(none.contains(state));
        REQUIRE(OffloadStates::all().contains(state));
        for (const auto other : all_offload_states) REQUIRE(one.contains(other) == (other == state));
    }
    constexpr OffloadStates two{OffloadState::lp_grads, OffloadState::optim_states};
    STATIC_REQUIRE(two.contains(OffloadState::optim_states));
    STATIC_REQUIRE_FALSE(two.contains(OffloadState::hp_params));
}

TEST_CASE("A set's text lists its states in the order of the enumeration") {
    REQUIRE(to_string(OffloadStates{}).empty());
    REQUIRE(to_string(OffloadStates{OffloadState::lp_grads, OffloadState::optim_states}) ==
            "optim_states, lp_grads");
    REQUIRE(to_string(OffloadStates::all()) ==
            "optim_states, hp_params, lp_params, lp_grads, contiguous_grad_buffer");
}
