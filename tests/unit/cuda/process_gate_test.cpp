// SPDX-License-Identifier: Apache-2.0
#include "cuda/process_gate.hpp"

#include <cstdlib>
#include <string>

#include <catch2/catch_test_macros.hpp>
#include <sys/wait.h>
#include <unistd.h>

namespace pinwarden::testing {
namespace {

using cuda::detail::arm_process_gate;
using cuda::detail::process_gate;
using cuda::detail::ProcessGate;

// Runs `work` in a child and answers its exit status.
template <typename Work>
int status_of_child(Work work) {
    const pid_t child = ::fork();
    if (child == 0) {
        work();
        std::_Exit(99);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    return WEXITSTATUS(status);
}

void leave_with_the_gates_state() { std::_Exit(process_gate().is_open() ? 10 : 20); }

TEST_CASE("A gate is open until it is closed, and then says why", "[cuda]") {
    ProcessGate gate;
    CHECK(gate.is_open());
    gate.close(ProcessGate::State::exiting);
    CHECK_FALSE(gate.is_open());
    CHECK(std::string(gate.reason()).find("exit") != std::string::npos);
    gate.close(ProcessGate::State::forked);
    CHECK(std::string(gate.reason()).find("fork") != std::string::npos);
}

TEST_CASE("Trap 6: the gate closes when exit begins, before what was registered ahead of it runs", "[cuda]") {
    CHECK(status_of_child([] {
              std::atexit(leave_with_the_gates_state);
              arm_process_gate();
              std::exit(0);
          }) == 20);
    CHECK(status_of_child([] {
              std::at_quick_exit(leave_with_the_gates_state);
              arm_process_gate();
              std::quick_exit(0);
          }) == 20);
}

TEST_CASE("Trap 6: handlers registered after the gate was armed, as those of static handles, find it closed",
          "[cuda]") {
    // As a program of its own, for a forked one has a closed gate anyway.
    CHECK(status_of_child([] {
              ::execl("/proc/self/exe", "unit_cuda", "A program that leaves by exit with the state of its gate",
                      nullptr);
          }) == 20);
}

TEST_CASE("A program that leaves by exit with the state of its gate", "[.]") {
    arm_process_gate();
    if (!process_gate().is_open()) std::_Exit(30);
    std::atexit(leave_with_the_gates_state);
    std::exit(0);
}

TEST_CASE("The gate closes in the child of a fork and stays open in the parent", "[cuda]") {
    arm_process_gate();
    CHECK(status_of_child(leave_with_the_gates_state) == 20);
    CHECK(process_gate().is_open());
}

}  // namespace
}  // namespace pinwarden::testing
