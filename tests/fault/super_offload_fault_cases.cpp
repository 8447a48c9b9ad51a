// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>

#include <chrono>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <pinwarden/audit/scope.hpp>
#include <pinwarden/superoffload/super_offload.hpp>

#include <support/audit_state.hpp>
#include <support/child_process.hpp>
#include <support/engine_states.hpp>
#include <support/gate.hpp>
#include <support/host_step.hpp>
#include <support/release_failure_log.hpp>

// Workers of host Adam that fail, end and hang: the caller hears of it, the step is undone, and no pin is
// left.

using namespace pinwarden;
using namespace pinwarden::testing;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using zero::SuperOffload;
using zero::WorkerError;
using zero::WorkerTimeoutError;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t elements = 30'000;

// SuperOffload with a pinned scratch, arrays to step, and what must be so at the end.
struct World {
    AuditState at_start = AuditState::now();
    HostStep step{elements, 4'000, 21};
    HostArrays before = step.arrays();
    audit::Scope scope{"super"};
    std::optional<SuperOffload> super;

    explicit World(zero::SuperOffloadOptions options) {
        super.emplace(step.settings({.scope = scope}), std::move(options));
        REQUIRE(scope.report().counts.live.pins == 1);
    }

    void speculate() { step.speculate(*super); }

    void require_undone() const { REQUIRE(step.arrays() == before); }

    // However its workers are.
    void require_that_destruction_leaves_no_pin() {
        super.reset();
        REQUIRE(step.arrays() == before);
        REQUIRE(scope.close(10s).is_clean());
        REQUIRE(AuditState::now() == at_start);
    }
};

}  // namespace

TEST_CASE("What a worker throws reaches the caller with its cause, and the next step goes well") {
    bool fails = true;
    World world({.workers = 1, .before_sub_group = [&](std::size_t number) {
                     if (fails && number == 2) throw std::runtime_error("the optimizer is broken");
                 }});
    bool caught = false;
    try {
        world.speculate();
        world.super->finish(1.0F);
    } catch (const WorkerError& error) {
        caught = true;
        REQUIRE_THAT(error.what(), ContainsSubstring("sub-group 2 of the step: the optimizer is broken"));
        REQUIRE_THROWS_AS(std::rethrow_if_nested(error), std::runtime_error);
    }
    REQUIRE(caught);
    world.require_undone();

    fails = false;
    const auto expected = world.step.stepped({});
    world.speculate();
    world.super->finish(1.0F);
    REQUIRE(world.step.arrays() == expected);
    world.before = expected;
    world.require_that_destruction_leaves_no_pin();
}

TEST_CASE("A worker that throws something else, at the first or the last sub-group, is reported too") {
    for (const std::size_t failing : {std::size_t{0}, HostStep(elements, 4'000, 21).sub_groups() - 3}) {
        World world({.workers = 2, .queue_capacity = 1, .before_sub_group = [&](std::size_t number) {
                         if (number == failing) throw 42;
                     }});
        REQUIRE_THROWS_MATCHES(
            [&] {
                world.speculate();
                world.super->finish(1.0F);
            }(),
            WorkerError, MessageMatches(ContainsSubstring("no std::exception")));
        world.require_undone();
        world.require_that_destruction_leaves_no_pin();
    }
}

TEST_CASE("A worker that throws while a step is redone leaves the states as they were before the step") {
    std::size_t calls = 0;
    World world({.workers = 1, .before_sub_group = [&](std::size_t number) {
                     if (number == 3 && ++calls == 2) throw std::bad_alloc();
                 }});
    world.speculate();
    REQUIRE_THROWS_AS(world.super->finish(0.5F), WorkerError);
    REQUIRE(calls == 2);
    world.require_undone();
    world.require_that_destruction_leaves_no_pin();
}

TEST_CASE(
    "A worker that hangs past the time-out is an error at the caller, and touches nothing when it goes on") {
    Gate gate;
    World world(
        {.workers = 1, .queue_capacity = 64, .timeout = 50ms, .before_sub_group = [&](std::size_t number) {
             if (number == 3) gate.pass();
         }});
    world.speculate();
    REQUIRE(gate.wait_for_arrivals(1));
    REQUIRE(world.step.arrays() != world.before);
    REQUIRE_THROWS_MATCHES(
        world.super->finish(1.0F), WorkerTimeoutError,
        MessageMatches(ContainsSubstring("no result for 50 ms") &&
                       ContainsSubstring("sub-group 3 has not come back from before_sub_group")));
    world.require_undone();

    // These workers are given up: that is said again, not waited for again.
    const auto start = std::chrono::steady_clock::now();
    REQUIRE_THROWS_AS(world.super->start({}), WorkerError);
    const ReleaseFailureLog log;
    world.require_that_destruction_leaves_no_pin();
    REQUIRE(std::chrono::steady_clock::now() - start < 10s);
    REQUIRE(log.texts().empty());

    gate.open();
    REQUIRE(gate.wait_for_passes(1));
    std::this_thread::sleep_for(5ms);
    REQUIRE(world.step.arrays() == world.before);
}

TEST_CASE(
    "A worker that hangs while the queue is full is an error at the caller that has more to hand over") {
    Gate gate;
    World world({.workers = 1, .queue_capacity = 1, .timeout = 50ms, .before_sub_group = [&](std::size_t) {
                     gate.pass();
                 }});
    world.speculate();
    REQUIRE_THROWS_MATCHES(world.super->finish(1.0F), WorkerTimeoutError,
                           MessageMatches(ContainsSubstring("no room in the queue for 50 ms")));
    world.require_undone();
    world.require_that_destruction_leaves_no_pin();
    gate.open();
    REQUIRE(gate.wait_for_passes(1));
}

TEST_CASE(
    "A worker that hangs when SuperOffload is destroyed is left behind after the time-out, and reported") {
    Gate gate;
    World world({.workers = 1, .queue_capacity = 64, .timeout = 50ms, .before_sub_group = [&](std::size_t) {
                     gate.pass();
                 }});
    world.speculate();
    REQUIRE(gate.wait_for_arrivals(1));
    const ReleaseFailureLog log;
    world.require_that_destruction_leaves_no_pin();
    REQUIRE(log.texts().size() == 1);
    REQUIRE_THAT(log.texts().front(), ContainsSubstring("left behind"));
    gate.open();
    REQUIRE(gate.wait_for_passes(1));
}

TEST_CASE("Slow workers that get on are waited for longer than the time-out") {
    World world({.workers = 1, .queue_capacity = 1, .timeout = 150ms, .before_sub_group = [](std::size_t) {
                     std::this_thread::sleep_for(25ms);
                 }});
    const auto start = std::chrono::steady_clock::now();
    const auto expected = world.step.stepped({});
    world.speculate();
    world.super->finish(1.0F);
    REQUIRE(std::chrono::steady_clock::now() - start > 150ms);
    REQUIRE(world.step.arrays() == expected);
}

TEST_CASE("A worker that is killed while the queue is full is an error at the caller, without a deadlock") {
    for (const std::size_t dying : {0U, 4U}) {
        World world({.workers = 1, .queue_capacity = 1, .before_sub_group = [&](std::size_t number) {
                         if (number != dying) return;
                         // Until then the caller is filling the queue, and waits for room in it.
                         std::this_thread::sleep_for(30ms);
                         ::pthread_exit(nullptr);
                     }});
        const auto start = std::chrono::steady_clock::now();
        world.speculate();
        REQUIRE_THROWS_MATCHES(
            world.super->finish(1.0F), WorkerError,
            MessageMatches(ContainsSubstring("worker 0 has ended, and sub-group " + std::to_string(dying))));
        REQUIRE(std::chrono::steady_clock::now() - start < 20s);  // not by the time-out, which is a minute
        world.require_undone();
        REQUIRE_THROWS_AS(world.super->start({}), WorkerError);
        world.require_that_destruction_leaves_no_pin();
    }
}

TEST_CASE("A worker that is killed while the caller waits for results is an error at the caller") {
    World world({.workers = 2, .queue_capacity = 64, .before_sub_group = [&](std::size_t number) {
                     if (number == 5) ::pthread_exit(nullptr);
                 }});
    REQUIRE_THROWS_AS(
        [&] {
            world.speculate();
            world.super->finish(1.0F);
        }(),
        WorkerError);
    world.require_undone();
    world.require_that_destruction_leaves_no_pin();
}

TEST_CASE(
    "Gradients that never arrive are a time-out that names the stream, and their scratch outlives the copy") {
    World world({.workers = 1, .queue_capacity = 64, .timeout = 50ms});
    auto hold = std::make_unique<StreamHold>(world.step.accelerator().hold());
    world.speculate();
    REQUIRE_THROWS_MATCHES(
        world.super->finish(1.0F), WorkerTimeoutError,
        MessageMatches(ContainsSubstring("waits for its gradients on stream 'super_offload'")));
    world.require_undone();
    world.super.reset();
    auto counts = world.scope.report().counts;
    REQUIRE(counts.live.pins == 0);
    REQUIRE(counts.in_flight.pins == 1);
    hold->open();
    world.require_that_destruction_leaves_no_pin();
}

TEST_CASE("A copy that the device refuses is an error at the caller, at whichever sub-group") {
    const std::size_t sub_groups = HostStep(elements, 4'000, 21).sub_groups();
    for (const auto call : {AcceleratorCall::copy_to_host, AcceleratorCall::record}) {
        for (std::size_t nth = 1; nth <= sub_groups; ++nth) {
            World world({.workers = 1});
            world.step.accelerator().fail_call(call, nth);
            // Sub-groups of no elements ask for no copy, so that the last order may never be carried out.
            try {
                world.speculate();
                REQUIRE_FALSE(world.step.accelerator().has_failed());
            } catch (const AcceleratorError&) {
                REQUIRE(world.step.accelerator().has_failed());
            }
            world.super->roll_back();
            world.require_undone();
            world.step.accelerator().fail_call(0);
            world.require_that_destruction_leaves_no_pin();
        }
    }
}

TEST_CASE("In a fork, SuperOffload is destroyed without waiting for threads that are not there") {
    World world({.workers = 2});
    world.speculate();
    const auto child = run_in_child([&] {
        world.super.reset();
        return std::string("destroyed");
    });
    REQUIRE(child.answer == "destroyed");
    REQUIRE(child.exit_status == 0);
    world.super->roll_back();
    world.require_undone();
    world.require_that_destruction_leaves_no_pin();
}
