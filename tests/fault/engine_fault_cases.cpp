// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <pinwarden/accelerator/cpu_accelerator.hpp>
#include <pinwarden/accelerator/device_buffer.hpp>
#include <pinwarden/audit/registry.hpp>
#include <pinwarden/backend/scripted_backend.hpp>
#include <pinwarden/zero/engine.hpp>

#include <support/engine_states.hpp>
#include <support/failing_new.hpp>
#include <support/faulty_accelerator.hpp>
#include <support/least_squares.hpp>

// Each operation of an engine is tried with its first call that may fail failing, then with its second, and
// so on until it succeeds: after each failure everything is as before, and the same operation then succeeds.

using namespace pinwarden;
using namespace pinwarden::testing;
using zero::OffloadState;
using zero::OffloadStates;

namespace {

// What fails: the nth acquisition of host memory, the nth call of the device, the nth function that runs on
// the device, the nth allocation from the heap.
enum class Fault { host_memory, device_call, device_work, heap };

std::string name(Fault fault) {
    switch (fault) {
        case Fault::host_memory: return "host memory";
        case Fault::device_call: return "device call";
        case Fault::device_work: return "device work";
        case Fault::heap: return "heap";
    }
    return "";
}

struct Setting {
    std::int64_t stage;
    bool optimizer_on_host;
    bool parameters_on_host = false;
};

constexpr std::array settings = {Setting{1, false}, Setting{2, false}, Setting{2, true},
                                 Setting{3, false}, Setting{3, true, true}};
constexpr std::array faults = {Fault::host_memory, Fault::device_call, Fault::device_work, Fault::heap};

zero::Config config_for(const Setting& setting) {
    zero::Config config;
    config.gradient_accumulation_steps = 2;
    config.zero_optimization.stage = setting.stage;
    config.zero_optimization.reduce_bucket_size = 1'000;
    config.zero_optimization.sub_group_size = 600;
    if (setting.parameters_on_host) {
        config.zero_optimization.offload_param = {.device = zero::OffloadDevice::cpu, .pin_memory = true};
    }
    if (setting.optimizer_on_host) {
        config.zero_optimization.offload_optimizer = {.device = zero::OffloadDevice::cpu, .pin_memory = true};
    }
    return config;
}

// A device, a backend and an engine on them. The engine comes last, so that it goes first.
struct World {
    audit::Counts counts_at_start = audit::Registry::instance().counts();
    LeastSquares model;
    std::shared_ptr<FaultyAccelerator> accelerator = std::make_shared<FaultyAccelerator>();
    std::shared_ptr<ScriptedBackend> backend = std::make_shared<ScriptedBackend>();
    std::optional<zero::Engine> engine;

    void construct(const Setting& setting) {
        const auto groups = model.groups();
        engine.emplace(config_for(setting), accelerator, groups,
                       zero::EngineOptions{.backend = backend, .name = "world"});
    }

    void require_nothing_held() const {
        REQUIRE(eventually([&] { return accelerator->memory().in_use == 0; }));
        REQUIRE(eventually([&] { return registry_locked_bytes() == counts_at_start.locked_bytes(); }));
        REQUIRE(audit::Registry::instance().counts() == counts_at_start);
        REQUIRE(backend->outstanding().empty());
    }
};

using Operation = std::function<void(World&)>;

// What an operation must leave alone when it fails.
struct Facts {
    StateContents contents;
    decltype(locations_of(std::declval<zero::Engine&>())) locations;
    audit::Tally pins;
    std::int64_t global_steps;
    std::int64_t skipped_steps;
    double loss_scale;
    bool boundary;

    explicit Facts(const zero::Engine& engine)
        : contents(contents_of(engine)),
          locations(locations_of(engine)),
          pins(live_pins_of("world")),
          global_steps(engine.global_steps()),
          skipped_steps(engine.skipped_steps()),
          loss_scale(engine.loss_scale()),
          boundary(engine.is_gradient_accumulation_boundary()) {}

    friend bool operator==(const Facts&, const Facts&) = default;
};

// Runs `operation` with the nth call of the kind failing. Answers whether there was an nth; `threw` whether
// it was let out.
bool run_with_fault(World& world, Fault fault, std::size_t nth, const Operation& operation, bool& threw) {
    threw = false;
    const auto attempt = [&] {
        try {
            operation(world);
        } catch (const std::exception&) {
            threw = true;
        }
    };
    switch (fault) {
        case Fault::host_memory: {
            const std::size_t before = world.backend->acquire_count();
            world.backend->fail_acquire(nth);
            attempt();
            world.backend->fail_acquire(0);
            return world.backend->acquire_count() - before >= nth;
        }
        case Fault::device_call:
            world.accelerator->fail_call(nth);
            attempt();
            break;
        case Fault::device_work:
            world.accelerator->fail_work(nth);
            attempt();
            break;
        case Fault::heap: {
            const FailingNew failing(nth);
            attempt();
            return failing.failed();
        }
    }
    const bool failed = world.accelerator->has_failed();
    world.accelerator->fail_call(0);
    world.accelerator->fail_work(0);
    return failed;
}

// Sweeps one operation. `prepare` brings a fresh engine to where the operation starts. Answers how many calls
// failed.
std::size_t sweep(const Setting& setting, Fault fault, const Operation& prepare, const Operation& operation) {
    World undisturbed;
    undisturbed.construct(setting);
    prepare(undisturbed);
    operation(undisturbed);
    const Facts expected(*undisturbed.engine);
    undisturbed.engine.reset();

    for (std::size_t nth = 1;; ++nth) {
        CAPTURE(nth);
        World world;
        world.construct(setting);
        prepare(world);
        const Facts before(*world.engine);
        bool threw = false;
        const bool failed = run_with_fault(world, fault, nth, operation, threw);
        REQUIRE((failed || !threw));
        if (threw) {
            REQUIRE(Facts(*world.engine) == before);
            REQUIRE(eventually(
                [&] { return world.accelerator->memory().in_use == device_bytes_of(*world.engine); }));
            REQUIRE(eventually([&] {
                return registry_locked_bytes() - world.counts_at_start.locked_bytes() ==
                       before.pins.locked_bytes;
            }));
            operation(world);
        }
        REQUIRE(Facts(*world.engine) == expected);
        world.engine->destroy();
        world.require_nothing_held();
        if (!failed) return nth - 1;
    }
}

void accumulate(World& world, std::size_t micro_batches) {
    for (std::size_t i = 0; i < micro_batches; ++i) {
        world.engine->backward(world.model.micro_batch(i));
        world.engine->step();
    }
}

// Sweeps one operation with every fault in every setting. `possible` says which faults must have happened at
// all.
void sweep_all(const Operation& prepare, const Operation& operation,
               const std::function<bool(const Setting&, Fault)>& possible) {
    for (const auto& setting : settings) {
        for (const Fault fault : faults) {
            CAPTURE(setting.stage, setting.optimizer_on_host, name(fault));
            const std::size_t count = sweep(setting, fault, prepare, operation);
            CAPTURE(count);
            REQUIRE((count > 0) == possible(setting, fault));
        }
    }
}

}  // namespace

TEST_CASE("A construction that fails anywhere holds nothing") {
    for (const auto& setting : settings) {
        for (const Fault fault : faults) {
            CAPTURE(setting.stage, setting.optimizer_on_host, name(fault));
            for (std::size_t nth = 1;; ++nth) {
                CAPTURE(nth);
                World world;
                bool threw = false;
                const bool failed = run_with_fault(
                    world, fault, nth, [&](World& fresh) { fresh.construct(setting); }, threw);
                REQUIRE(failed == threw);
                if (threw) {
                    REQUIRE_FALSE(world.engine.has_value());
                    world.require_nothing_held();
                    world.construct(setting);
                }
                world.engine->backward(world.model.micro_batch(0));
                world.engine->destroy();
                world.require_nothing_held();
                if (!failed) break;
            }
        }
    }
}

TEST_CASE("An offload that fails anywhere leaves every state where it was") {
    const bool non_blocking = GENERATE(false, true);
    CAPTURE(non_blocking);
    sweep_all([](World& world) { accumulate(world, 3); },
              [&](World& world) {
                  world.engine->offload_states(OffloadStates::all(), Pinning::pinned, non_blocking);
              },
              [](const Setting&, Fault fault) { return fault != Fault::device_work; });
}

TEST_CASE("A second offload that fails anywhere leaves the first as it was") {
    sweep_all(
        [](World& world) {
            accumulate(world, 3);
            world.engine->offload_states({OffloadState::lp_params, OffloadState::hp_params},
                                         Pinning::pageable, true);
        },
        [](World& world) { world.engine->offload_states(OffloadStates::all(), Pinning::pinned, true); },
        [](const Setting&, Fault fault) { return fault != Fault::device_work; });
}

TEST_CASE("A reload that fails anywhere leaves every state where it was") {
    const bool non_blocking = GENERATE(false, true);
    CAPTURE(non_blocking);
    sweep_all(
        [](World& world) {
            accumulate(world, 3);
            world.engine->offload_states(OffloadStates::all(), Pinning::pinned, true);
        },
        [&](World& world) { world.engine->reload_states(non_blocking); },
        [](const Setting&, Fault fault) { return fault == Fault::device_call || fault == Fault::heap; });
}

TEST_CASE("A micro-batch that fails anywhere did not happen") {
    sweep_all([](World& world) { accumulate(world, 3); },
              [](World& world) { world.engine->backward(world.model.micro_batch(3)); },
              [](const Setting&, Fault fault) { return fault != Fault::host_memory; });
}

TEST_CASE("A step that fails anywhere changes no state") {
    sweep_all(
        [](World& world) {
            accumulate(world, 3);
            world.engine->backward(world.model.micro_batch(3));
        },
        [](World& world) { world.engine->step(); },
        [](const Setting&, Fault fault) { return fault != Fault::host_memory; });
}

TEST_CASE("A destruction that fails anywhere still releases everything") {
    for (const auto& setting : settings) {
        for (const Fault fault : {Fault::device_call, Fault::heap}) {
            CAPTURE(setting.stage, setting.optimizer_on_host, name(fault));
            for (std::size_t nth = 1;; ++nth) {
                CAPTURE(nth);
                World world;
                world.construct(setting);
                accumulate(world, 3);
                world.engine->offload_states(OffloadStates::all(), Pinning::pinned, true);
                bool threw = false;
                const bool failed = run_with_fault(
                    world, fault, nth, [](World& full) { full.engine->destroy(); }, threw);
                REQUIRE((failed || !threw));
                world.require_nothing_held();
                world.engine->destroy();
                if (!failed) break;
            }
        }
    }
}

TEST_CASE("A device that is too small for a reload leaves the states on the host") {
    World world;
    const auto small = make_cpu_accelerator({.capacity_bytes = 40'000});
    const auto groups = world.model.groups();
    zero::Engine engine(config_for({2, false}), small, groups, {.backend = world.backend, .name = "world"});
    engine.backward(world.model.micro_batch(0));
    const auto before = contents_of(engine);
    engine.offload_states();
    const auto stream = small->create_stream("another user");
    DeviceBuffer<std::byte> taken(20'000, stream);
    REQUIRE_THROWS_AS(engine.reload_states(), AcceleratorError);
    for (const auto state : zero::all_offload_states)
        REQUIRE(engine.location(state) == zero::StateLocation::host);
    REQUIRE(contents_of(engine) == before);
    taken.reset();
    stream->synchronize();
    engine.reload_states();
    REQUIRE(contents_of(engine) == before);
    engine.destroy();
    REQUIRE(small->memory().in_use == 0);
}
