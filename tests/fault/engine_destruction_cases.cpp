// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <pinwarden/audit/leak_report.hpp>
#include <pinwarden/audit/registry.hpp>
#include <pinwarden/backend/scripted_backend.hpp>
#include <pinwarden/own/pinned_buffer.hpp>
#include <pinwarden/zero/engine.hpp>

#include <support/engine_states.hpp>
#include <support/faulty_accelerator.hpp>
#include <support/least_squares.hpp>
#include <support/release_failure_log.hpp>

// destroy() at every bad moment.

using namespace pinwarden;
using namespace pinwarden::testing;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using zero::OffloadStates;
using namespace std::chrono_literals;

namespace {

const LeastSquares model;

struct World {
    audit::Counts counts_at_start = audit::Registry::instance().counts();
    std::shared_ptr<FaultyAccelerator> accelerator = std::make_shared<FaultyAccelerator>();
    std::shared_ptr<ScriptedBackend> backend = std::make_shared<ScriptedBackend>();
    std::optional<zero::Engine> engine;

    explicit World(std::chrono::nanoseconds deadline = 10s, bool static_offload = false) {
        zero::Config config;
        if (static_offload) {
            config.zero_optimization.offload_optimizer = {.device = zero::OffloadDevice::cpu,
                                                          .pin_memory = true};
        }
        engine.emplace(
            config, accelerator, model.groups(),
            zero::EngineOptions{.backend = backend, .name = "world", .destroy_deadline = deadline});
    }

    void require_nothing_held() const {
        REQUIRE(audit::Registry::instance().counts() == counts_at_start);
        REQUIRE(backend->outstanding().empty());
        REQUIRE(accelerator->memory().in_use == 0);
    }
};

}  // namespace

TEST_CASE("An engine is destroyed before its first step, after one, and in the middle of one") {
    for (const bool static_offload : {false, true}) {
        for (int calls = 0; calls < 3; ++calls) {
            World world(10s, static_offload);
            if (calls > 0) world.engine->backward(model.micro_batch(0));
            if (calls > 1) world.engine->step();
            world.engine->destroy();
            world.require_nothing_held();
            world.engine->destroy();
        }
    }
}

TEST_CASE("Destroying an engine waits for its copies in flight") {
    for (const bool reload : {false, true}) {
        World world;
        auto hold = std::make_unique<StreamHold>(world.accelerator->hold());
        world.engine->offload_states(OffloadStates::all(), Pinning::pinned, true);
        if (reload) world.engine->reload_states(true);
        std::thread opener([&] {
            std::this_thread::sleep_for(30ms);
            hold->open();
        });
        world.engine->destroy();
        world.require_nothing_held();
        opener.join();
    }
}

TEST_CASE("Copies that are stuck past the deadline are reported, and released when they are over") {
    World world(20ms);
    {
        const auto hold = world.accelerator->hold();
        world.engine->offload_states(OffloadStates::all(), Pinning::pinned, true);
        REQUIRE_THROWS_MATCHES(world.engine->destroy(), audit::LeakError,
                               MessageMatches(ContainsSubstring("hp_params/matrices") &&
                                              ContainsSubstring("engine_destruction_cases.cpp")));
        const auto counts = audit::Registry::instance().counts();
        REQUIRE(counts.live == audit::Tally{});
        REQUIRE(counts.in_flight.pins == 11);
        REQUIRE_THROWS_AS(world.engine->destroy(), audit::LeakError);
    }
    REQUIRE(eventually([&] { return world.accelerator->memory().in_use == 0; }));
    world.engine->destroy();
    world.require_nothing_held();
}

TEST_CASE("A stuck device without pins in flight is an error of its own") {
    World world(20ms);
    {
        const auto hold = world.accelerator->hold();
        REQUIRE_THROWS_MATCHES(world.engine->destroy(), zero::EngineError,
                               MessageMatches(ContainsSubstring("has not finished 20 ms after destroy()")));
    }
    REQUIRE(eventually([&] { return world.accelerator->memory().in_use == 0; }));
    world.engine->destroy();
    world.require_nothing_held();
}

TEST_CASE("An engine destroyed after an offload that failed holds nothing") {
    World world;
    world.backend->fail_acquire(5);
    REQUIRE_THROWS_AS(world.engine->offload_states(), PinError);
    world.accelerator->fail_call(AcceleratorCall::copy_to_host, 3);
    REQUIRE_THROWS_AS(world.engine->offload_states(), AcceleratorError);
    world.engine->destroy();
    world.require_nothing_held();
}

TEST_CASE("An engine releases everything while an exception unwinds the stack, copies in flight or not") {
    for (const bool non_blocking : {false, true}) {
        ReleaseFailureLog failures;
        World world;
        const auto accelerator = world.accelerator;
        try {
            zero::Engine engine({}, accelerator, model.groups(),
                                {.backend = world.backend, .name = "unwound"});
            engine.backward(model.micro_batch(0));
            engine.offload_states(OffloadStates::all(), Pinning::pinned, non_blocking);
            throw std::runtime_error("elsewhere");
        } catch (const std::runtime_error& error) {
            REQUIRE(std::string(error.what()) == "elsewhere");
        }
        REQUIRE(live_pins_of("unwound") == audit::Tally{});
        REQUIRE(failures.texts().empty());
        world.engine->destroy();
        world.require_nothing_held();
    }
}

TEST_CASE("A pin that somebody else made in the engine's scope is reported by destroy(), not dropped") {
    World world;
    PinnedBuffer<float> foreign(
        16, {.backend = world.backend, .scope = world.engine->scope(), .label = "foreign"});
    world.engine->offload_states();
    try {
        world.engine->destroy();
        FAIL("destroy() overlooked a live pin");
    } catch (const audit::LeakError& error) {
        REQUIRE(error.report().counts.live.pins == 1);
        REQUIRE(error.report().records.size() == 1);
        REQUIRE(error.report().records.front().label == "foreign");
        REQUIRE_THAT(error.what(), ContainsSubstring("engine_destruction_cases.cpp"));
    }
    foreign.reset();
    world.engine->destroy();
    world.require_nothing_held();
}

TEST_CASE("The destructor reports through the release-failure handler what destroy() would throw") {
    ReleaseFailureLog failures;
    World world;
    PinnedBuffer<float> foreign(
        16, {.backend = world.backend, .scope = world.engine->scope(), .label = "foreign"});
    world.engine.reset();
    REQUIRE(failures.texts().size() == 1);
    REQUIRE_THAT(failures.texts().front(), ContainsSubstring("foreign"));
    foreign.reset();
    world.require_nothing_held();
}

TEST_CASE("A destructor after destroy() has nothing left to say") {
    ReleaseFailureLog failures;
    World world;
    PinnedBuffer<float> foreign(
        16, {.backend = world.backend, .scope = world.engine->scope(), .label = "foreign"});
    REQUIRE_THROWS_AS(world.engine->destroy(), audit::LeakError);
    world.engine.reset();
    REQUIRE(failures.texts().empty());
}

TEST_CASE("An unpin that fails does not stop destroy(), and its memory is quarantined") {
    ReleaseFailureLog failures;
    World world;
    world.engine->offload_states();
    world.backend->answer_release(UnpinStatus::failed);
    world.engine->destroy();
    const auto counts = audit::Registry::instance().counts();
    REQUIRE(counts.live == audit::Tally{});
    REQUIRE(counts.quarantined.pins - world.counts_at_start.quarantined.pins == 11);
    REQUIRE(failures.texts().size() == 11);
}
