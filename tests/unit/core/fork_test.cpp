// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/core/fork.hpp>

#include <string>

#include <catch2/catch_test_macros.hpp>

#include <support/child_process.hpp>

namespace pinwarden {

TEST_CASE("Every fork begins a generation of its own, and the parent keeps its", "[core]") {
    const std::uint64_t mine = fork_generation();
    const auto child = testing::run_in_child([] {
        const auto grandchild = testing::run_in_child([] { return std::to_string(fork_generation()); });
        return std::to_string(fork_generation()) + " " + grandchild.answer;
    });
    CHECK(child.answer == std::to_string(mine + 1) + " " + std::to_string(mine + 2));
    CHECK(fork_generation() == mine);
}

}  // namespace pinwarden
