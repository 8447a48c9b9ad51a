// SPDX-License-Identifier: Apache-2.0
#include "scan/driver/child_process.hpp"

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <csignal>
#include <string>

using pinwarden::scan::ChildLimits;
using pinwarden::scan::ChildResult;
using pinwarden::scan::run_child;

namespace {

constexpr ChildLimits generous{std::chrono::seconds(60), 0};

ChildResult shell(const std::string& script, const std::string& input = {}, const ChildLimits& limits = generous) {
    return run_child({"/bin/sh", "-c", script}, input, limits);
}

}  // namespace

TEST_CASE("A child's exit status and both its streams come back, whatever their size") {
    const std::string much(3'000'000, 'x');
    const ChildResult result = shell("cat; echo wrong >&2; exit 7", much);
    CHECK(result.exit_code == 7);
    CHECK(result.signal == 0);
    CHECK_FALSE(result.timed_out);
    CHECK(result.output == much);
    CHECK(result.errors == "wrong\n");
}

TEST_CASE("A child that a signal ends says which") {
    const ChildResult result = shell("kill -SEGV $$");
    CHECK(result.signal == SIGSEGV);
    CHECK_FALSE(result.timed_out);
}

TEST_CASE("A child that runs too long is ended") {
    const auto start = std::chrono::steady_clock::now();
    const ChildResult result = shell("exec sleep 60", {}, {std::chrono::milliseconds(100), 0});
    CHECK(result.timed_out);
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(30));
}

TEST_CASE("A child cannot take more memory than it may") {
    const std::string script = "exec python3 -c 'print(len(bytearray(300 << 20)))'";
    CHECK(shell(script).exit_code == 0);
    const ChildResult result = shell(script, {}, {std::chrono::seconds(60), std::uint64_t{100} << 20U});
    CHECK(result.exit_code != 0);
    CHECK(result.errors.find("MemoryError") != std::string::npos);
}

TEST_CASE("A program that does not exist is a child that failed") {
    CHECK(run_child({"/nonexistent/program"}, {}, generous).exit_code == 127);
}
