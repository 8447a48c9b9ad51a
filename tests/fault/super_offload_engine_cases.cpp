// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <pinwarden/audit/leak_report.hpp>
#include <pinwarden/zero/engine.hpp>
#include <pinwarden/zero/thread_ranks.hpp>

#include <support/audit_state.hpp>
#include <support/engine_states.hpp>
#include <support/faulty_accelerator.hpp>
#include <support/gate.hpp>
#include <support/least_squares.hpp>
#include <support/rank_check.hpp>
#include <support/release_failure_log.hpp>

// An engine whose host Adam fails, ends or hangs, and its destruction at every moment.

using namespace pinwarden;
using namespace pinwarden::testing;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using zero::OffloadStates;
using namespace std::chrono_literals;

namespace {

const LeastSquares model;

zero::Config config_of(std::int64_t stage, bool super_offload = true) {
    zero::Config config;
    config.zero_optimization.stage = stage;
    config.zero_optimization.sub_group_size = 100;
    config.zero_optimization.reduce_bucket_size = 100;
    config.zero_optimization.offload_optimizer = {
        .device = zero::OffloadDevice::cpu, .pin_memory = true, .super_offload = super_offload};
    return config;
}

struct World {
    AuditState at_start = AuditState::now();
    std::shared_ptr<FaultyAccelerator> accelerator = std::make_shared<FaultyAccelerator>();
    std::optional<zero::Engine> engine;
    StateContents before;

    explicit World(std::int64_t stage, zero::SuperOffloadOptions super_offload = {}) {
        zero::EngineOptions options;
        options.name = "world";
        options.super_offload = std::move(super_offload);
        engine.emplace(config_of(stage), accelerator, model.groups(), options);
        before = contents_of(*engine);
    }

    // All but the gradients.
    void require_states_as_before() {
        for (const auto state : {zero::OffloadState::hp_params, zero::OffloadState::optim_states,
                                 zero::OffloadState::lp_params}) {
            REQUIRE(engine->snapshot(state) == before[static_cast<std::size_t>(state)]);
        }
    }

    void require_nothing_held() const {
        REQUIRE(live_pins_of("world") == audit::Tally{});
        REQUIRE(AuditState::now() == at_start);
        REQUIRE(accelerator->memory().in_use == 0);
    }
};

StateContents contents_after_one_step(std::int64_t stage) {
    zero::Engine engine(config_of(stage, false), std::make_shared<FaultyAccelerator>(), model.groups());
    engine.backward(model.micro_batch(0));
    engine.step();
    return contents_of(engine);
}

}  // namespace

TEST_CASE("A worker that throws fails step(), which leaves everything as it was and succeeds the next time") {
    for (const std::int64_t stage : {1, 2, 3}) {
        std::atomic<bool> fails = true;
        World world(stage, {.before_sub_group = [&](std::size_t number) {
                        if (fails && number == 1) throw std::runtime_error("no more registers");
                    }});
        world.engine->backward(model.micro_batch(0));
        REQUIRE_THROWS_MATCHES(
            world.engine->step(), zero::WorkerError,
            MessageMatches(ContainsSubstring("sub-group 1 of the step: no more registers")));
        world.require_states_as_before();
        REQUIRE(world.engine->global_steps() == 0);
        fails = false;
        REQUIRE(world.engine->step().applied);
        REQUIRE(contents_of(*world.engine) == contents_after_one_step(stage));
        world.engine->destroy();
        world.require_nothing_held();
    }
}

TEST_CASE("A worker that hangs fails step() by the time-out, and the engine is destroyed without a pin") {
    for (const std::int64_t stage : {1, 2, 3}) {
        Gate gate;
        World world(
            stage,
            {.workers = 1, .queue_capacity = 2, .timeout = 50ms, .before_sub_group = [&](std::size_t n) {
                 if (n == 1) gate.pass();
             }});
        const auto start = std::chrono::steady_clock::now();
        world.engine->backward(model.micro_batch(0));
        REQUIRE_THROWS_MATCHES(world.engine->step(), zero::WorkerTimeoutError,
                               MessageMatches(ContainsSubstring("sub-group 1 has not come back")));
        world.require_states_as_before();
        REQUIRE_THROWS_AS(world.engine->step(), zero::WorkerError);
        world.require_states_as_before();
        world.engine->destroy();
        REQUIRE(std::chrono::steady_clock::now() - start < 20s);
        world.require_nothing_held();
        gate.open();
        REQUIRE(gate.wait_for_passes(1));
    }
}

TEST_CASE(
    "A worker that is killed while the queue is full fails step(), and the engine holds no pin afterwards") {
    for (const std::int64_t stage : {1, 2, 3}) {
        World world(stage, {.workers = 1, .queue_capacity = 1, .before_sub_group = [](std::size_t number) {
                                if (number != 0) return;
                                std::this_thread::sleep_for(20ms);
                                ::pthread_exit(nullptr);
                            }});
        const auto start = std::chrono::steady_clock::now();
        world.engine->backward(model.micro_batch(0));
        REQUIRE_THROWS_MATCHES(world.engine->step(), zero::WorkerError,
                               MessageMatches(ContainsSubstring("worker 0 has ended")));
        REQUIRE(std::chrono::steady_clock::now() - start < 20s);
        world.require_states_as_before();
        world.engine->destroy();
        world.require_nothing_held();
    }
}

TEST_CASE("An engine with SuperOffload is destroyed at every moment of a step, twice") {
    for (const std::int64_t stage : {1, 2, 3}) {
        for (int calls = 0; calls < 5; ++calls) {
            World world(stage);
            if (calls > 0) world.engine->backward(model.micro_batch(0));
            if (calls > 1) world.engine->step();
            if (calls > 2) world.engine->offload_states(OffloadStates::all(), Pinning::pinned, true);
            if (calls > 3) world.engine->reload_states(true);
            world.engine->destroy();
            world.require_nothing_held();
            world.engine->destroy();
        }
    }
}

TEST_CASE("An engine is destroyed while a worker of its speculation has not come back") {
    for (const std::int64_t stage : {1, 2, 3}) {
        Gate gate;
        World world(
            stage,
            {.workers = 1, .queue_capacity = 64, .timeout = 50ms, .before_sub_group = [&](std::size_t n) {
                 if (n == 1) gate.pass();
             }});
        world.engine->backward(model.micro_batch(0));
        REQUIRE(gate.wait_for_arrivals(1));
        const ReleaseFailureLog log;
        world.engine->destroy();
        REQUIRE(log.texts().size() == 1);
        world.require_nothing_held();
        gate.open();
        REQUIRE(gate.wait_for_passes(1));
    }
}

TEST_CASE("An engine with SuperOffload that is destroyed while the stack unwinds holds no pin") {
    for (const std::int64_t stage : {1, 2, 3}) {
        const AuditState at_start = AuditState::now();
        const ReleaseFailureLog log;
        REQUIRE_THROWS_AS(
            [&] {
                zero::Engine engine(config_of(stage), std::make_shared<FaultyAccelerator>(), model.groups());
                engine.backward(model.micro_batch(0));
                throw std::runtime_error("something else");
            }(),
            std::runtime_error);
        REQUIRE(log.texts().empty());
        REQUIRE(AuditState::now() == at_start);
    }
}

TEST_CASE("Each call of the device that fails leaves an engine with SuperOffload whole, and able to go on") {
    for (const std::int64_t stage : {1, 2, 3}) {
        const auto expected = contents_after_one_step(stage);
        for (std::size_t nth = 1;; ++nth) {
            CAPTURE(stage, nth);
            World world(stage);
            world.accelerator->fail_call(nth);
            std::size_t attempts = 0;
            while (world.engine->global_steps() == 0) {
                REQUIRE(++attempts < 4);
                try {
                    if (!world.engine->is_gradient_accumulation_boundary())
                        world.engine->backward(model.micro_batch(0));
                    world.engine->step();
                } catch (const AcceleratorError&) {
                    world.require_states_as_before();
                }
            }
            const bool failed = world.accelerator->has_failed();
            world.accelerator->fail_call(0);
            REQUIRE(contents_of(*world.engine) == expected);
            world.engine->destroy();
            world.require_nothing_held();
            if (!failed) break;
        }
    }
}

TEST_CASE("Offloads that fail in the middle of a speculated step leave each state whole and nothing held") {
    for (const std::int64_t stage : {1, 2, 3}) {
        const auto expected = contents_after_one_step(stage);
        for (std::size_t nth = 1;; ++nth) {
            CAPTURE(stage, nth);
            World world(stage);
            world.engine->backward(model.micro_batch(0));
            world.accelerator->fail_call(nth);
            try {
                world.engine->offload_states();
            } catch (const AcceleratorError&) {
                for (const auto state : zero::all_offload_states)
                    REQUIRE(world.engine->location(state) == world.engine->home(state));
            }
            const bool failed = world.accelerator->has_failed();
            world.accelerator->fail_call(0);
            world.engine->reload_states();
            REQUIRE(world.engine->step().applied);
            REQUIRE(contents_of(*world.engine) == expected);
            world.engine->destroy();
            world.require_nothing_held();
            if (!failed) break;
        }
    }
}

TEST_CASE("A rank that is destroyed earlier than the others leaves no pin of SuperOffload either") {
    for (const std::int64_t stage : {1, 2, 3}) {
        const AuditState at_start = AuditState::now();
        zero::run_ranks(3, [&](zero::CommunicatorPtr ranks) {
            const std::size_t rank = ranks->rank();
            zero::EngineOptions options;
            options.name = "rank " + std::to_string(rank);
            options.communicator = ranks;
            zero::Engine engine(config_of(stage), std::make_shared<FaultyAccelerator>(), model.groups(),
                                options);
            ranks.reset();
            options.communicator.reset();
            engine.backward(model.micro_batch(rank));
            if (rank == 1) {
                engine.destroy();
                return;
            }
            ensure_throws<zero::CommunicationError>(
                [&] {
                    engine.step();
                    engine.backward(model.micro_batch(rank));
                },
                "rank 1 has left the group");
            engine.destroy();
        });
        REQUIRE(AuditState::now() == at_start);
    }
}

TEST_CASE("SuperOffload that cannot be made leaves no engine behind") {
    const AuditState at_start = AuditState::now();
    zero::EngineOptions options;
    options.super_offload.queue_capacity = 0;
    const auto make = [&](const zero::Config& config) {
        zero::Engine engine(config, std::make_shared<FaultyAccelerator>(), model.groups(), options);
    };
    REQUIRE_THROWS_AS(make(config_of(2)), SizeError);
    options.super_offload.queue_capacity = 1;
    auto config = config_of(2);
    config.zero_optimization.offload_optimizer.cpuadam_cores_perc = 0.0;
    REQUIRE_THROWS_MATCHES(make(config), zero::EngineError,
                           MessageMatches(ContainsSubstring("cpuadam_cores_perc is 0")));
    config = config_of(2);
    config.zero_optimization.offload_optimizer.device = zero::OffloadDevice::none;
    REQUIRE_THROWS_MATCHES(make(config), zero::EngineError,
                           MessageMatches(ContainsSubstring("super_offload")));
    REQUIRE(AuditState::now() == at_start);
}
