// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/zero/engine.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <pinwarden/accelerator/cpu_accelerator.hpp>
#include <pinwarden/audit/registry.hpp>
#include <pinwarden/backend/native_backend.hpp>
#include <pinwarden/backend/scripted_backend.hpp>
#include <pinwarden/core/process_memory.hpp>

#include <support/engine_states.hpp>
#include <support/least_squares.hpp>

using namespace pinwarden;
using namespace pinwarden::testing;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using zero::OffloadState;
using zero::OffloadStates;
using zero::StateLocation;

namespace {

const LeastSquares model;

zero::Config host_config(bool pin_memory) {
    zero::Config config;
    config.zero_optimization.offload_optimizer = {.device = zero::OffloadDevice::cpu,
                                                  .pin_memory = pin_memory};
    return config;
}

void require_engine_error(const std::function<void()>& call, const std::string& part) {
    REQUIRE_THROWS_MATCHES(call(), zero::EngineError, MessageMatches(ContainsSubstring(part)));
}

std::size_t elements(std::size_t bytes_each) { return LeastSquares::parameter_count * bytes_each; }

}  // namespace

TEST_CASE("A new engine has every state at home, with the sizes and contents of its parameters") {
    const auto accelerator = make_cpu_accelerator();
    zero::Engine engine({}, accelerator, model.groups());
    REQUIRE(engine.parameter_count() == LeastSquares::parameter_count);
    REQUIRE(engine.size_bytes(OffloadState::lp_params) == elements(2));
    REQUIRE(engine.size_bytes(OffloadState::lp_grads) == elements(2));
    REQUIRE(engine.size_bytes(OffloadState::hp_params) == elements(4));
    REQUIRE(engine.size_bytes(OffloadState::optim_states) == elements(8));
    REQUIRE(engine.size_bytes(OffloadState::contiguous_grad_buffer) == elements(2));
    for (const auto state : zero::all_offload_states) {
        REQUIRE(engine.location(state) == StateLocation::device);
        REQUIRE(engine.home(state) == StateLocation::device);
        REQUIRE_FALSE(engine.is_pinned(state));
    }
    REQUIRE(accelerator->memory().in_use == elements(18));
    REQUIRE(live_pins_of("zero") == audit::Tally{});

    const auto hp = engine.snapshot(OffloadState::hp_params);
    const auto lp = engine.snapshot(OffloadState::lp_params);
    std::size_t i = 0;
    for (const auto& group : model.groups()) {
        for (const auto& parameter : group.parameters) {
            for (const float value : parameter.initial) {
                float master = 0.0F;
                zero::Bf16 low;
                std::memcpy(&master, hp.data() + i * sizeof(float), sizeof(float));
                std::memcpy(&low, lp.data() + i * sizeof(low), sizeof(low));
                REQUIRE(master == value);
                REQUIRE(low == zero::Bf16::from_float(value));
                ++i;
            }
        }
    }
    const auto moments = engine.snapshot(OffloadState::optim_states);
    REQUIRE(std::ranges::all_of(moments, [](std::byte value) { return value == std::byte{0}; }));
}

TEST_CASE("Static offload keeps master parameters and moments on the host, as the configuration says") {
    for (const bool pin_memory : {false, true}) {
        zero::Engine engine(host_config(pin_memory), make_cpu_accelerator(), model.groups());
        for (const auto state : {OffloadState::hp_params, OffloadState::optim_states}) {
            REQUIRE(engine.home(state) == StateLocation::host);
            REQUIRE(engine.location(state) == StateLocation::host);
            REQUIRE(engine.is_pinned(state) == pin_memory);
        }
        REQUIRE(engine.home(OffloadState::lp_params) == StateLocation::device);
        REQUIRE((live_pins_of("zero").pins != 0) == pin_memory);
    }
}

TEST_CASE("The audit names every pin of an engine by state and group, and by the line that asked for it") {
    zero::Engine engine({}, make_cpu_accelerator(), model.groups(), {.name = "named"});
    const unsigned line = __LINE__ + 1;
    engine.offload_states();
    std::vector<std::string> labels;
    for (const auto& record : audit::Registry::instance().snapshot()) {
        if (record.scope != "named") continue;
        labels.push_back(record.label);
        REQUIRE(record.site.line() == line);
        REQUIRE(std::string(record.site.file_name()).ends_with("engine_test.cpp"));
    }
    std::ranges::sort(labels);
    REQUIRE(labels == std::vector<std::string>{"contiguous_grad_buffer", "exp_avg/biases", "exp_avg/matrices",
                                               "exp_avg_sq/biases", "exp_avg_sq/matrices", "hp_params/biases",
                                               "hp_params/matrices", "lp_grads/biases", "lp_grads/matrices",
                                               "lp_params/biases", "lp_params/matrices"});
}

TEST_CASE("Pins of static offload carry the line that made the engine") {
    const unsigned line = __LINE__ + 1;
    zero::Engine engine(host_config(true), make_cpu_accelerator(), model.groups(), {.name = "named"});
    std::size_t records = 0;
    for (const auto& record : audit::Registry::instance().snapshot()) {
        if (record.scope != "named") continue;
        REQUIRE(record.site.line() == line);
        ++records;
    }
    REQUIRE(records ==
            9);  // hp_params and two moments of two groups that have elements, and the three scratches
}

TEST_CASE("The registry and the kernel agree at every stage of a run") {
    const std::size_t kernel_before = kernel_locked_bytes();
    const std::size_t registry_before = registry_locked_bytes();
    const auto require_agreement = [&] {
        REQUIRE(eventually([&] {
            return kernel_locked_bytes() - kernel_before == registry_locked_bytes() - registry_before;
        }));
        return registry_locked_bytes() - registry_before;
    };
    for (const bool static_offload : {false, true}) {
        const auto config = static_offload ? host_config(true) : zero::Config{};
        zero::Engine engine(config, make_cpu_accelerator(), model.groups(), {.backend = native_backend()});
        const std::size_t at_home = require_agreement();
        REQUIRE((at_home != 0) == static_offload);
        engine.backward(model.micro_batch(0));
        REQUIRE(require_agreement() == at_home);
        engine.step();
        REQUIRE(require_agreement() == at_home);
        engine.offload_states({OffloadState::lp_params, OffloadState::hp_params}, Pinning::pinned, true);
        REQUIRE(require_agreement() > at_home);
        engine.offload_states(OffloadStates::all(), Pinning::pinned, true);
        require_agreement();
        engine.reload_states(true);
        REQUIRE(eventually([&] { return require_agreement() == at_home; }));
        engine.offload_states(OffloadStates::all(), Pinning::pinned, true);
        require_agreement();
        engine.destroy();
        REQUIRE(require_agreement() == 0);
    }
    REQUIRE(kernel_locked_bytes() == kernel_before);
}

TEST_CASE("Calls that an engine's state does not allow say what to do instead") {
    zero::Config config;
    config.gradient_accumulation_steps = 2;
    zero::Engine engine(config, make_cpu_accelerator(), model.groups(), {.name = "picky"});
    require_engine_error([&] { engine.step(); },
                         "engine 'picky': step() has no gradients; call backward() first");

    engine.offload_states({OffloadState::lp_params, OffloadState::lp_grads});
    require_engine_error(
        [&] { engine.backward(model.micro_batch(0)); },
        "backward() needs states that are offloaded: lp_params, lp_grads; call reload_states()");
    engine.reload_states();

    engine.backward(model.micro_batch(0));
    REQUIRE_FALSE(engine.is_gradient_accumulation_boundary());
    REQUIRE_FALSE(engine.step().applied);
    engine.backward(model.micro_batch(1));
    REQUIRE(engine.is_gradient_accumulation_boundary());
    require_engine_error([&] { engine.backward(model.micro_batch(2)); },
                         "all 2 micro-batch(es) of a step are accumulated; call step()");
    engine.offload_states(OffloadState::optim_states);
    require_engine_error([&] { engine.step(); }, "step() needs states that are offloaded: optim_states");
    engine.reload_states();
    REQUIRE(engine.step().applied);
}

TEST_CASE("A loss function that throws leaves the engine as it was") {
    zero::Engine engine({}, make_cpu_accelerator(), model.groups());
    const auto before = contents_of(engine);
    const zero::LossFunction broken = [](gsl::span<const float>, gsl::span<float> gradients) -> double {
        std::ranges::fill(gradients, 1.0F);
        throw std::runtime_error("the model is broken");
    };
    REQUIRE_THROWS_AS(engine.backward(broken), std::runtime_error);
    REQUIRE(contents_of(engine) == before);
    REQUIRE_FALSE(engine.is_gradient_accumulation_boundary());
    engine.backward(model.micro_batch(0));
    REQUIRE(engine.step().applied);
}

TEST_CASE("A loss function that calls its engine is refused") {
    zero::Engine engine({}, make_cpu_accelerator(), model.groups());
    const std::vector<std::function<void()>> calls{
        [&] { engine.backward(model.micro_batch(0)); }, [&] { engine.step(); },
        [&] { engine.offload_states(); }, [&] { engine.reload_states(); }, [&] { engine.destroy(); }};
    for (const auto& call : calls) {
        const zero::LossFunction reentrant = [&](gsl::span<const float>, gsl::span<float>) {
            call();
            return 0.0;
        };
        require_engine_error([&] { engine.backward(reentrant); }, "from within the loss function");
    }
    engine.backward(model.micro_batch(0));
    REQUIRE(engine.step().applied);
}

TEST_CASE("A destroyed engine refuses every call but destroy()") {
    zero::Engine engine({}, make_cpu_accelerator(), model.groups(), {.name = "gone"});
    engine.destroy();
    engine.destroy();
    require_engine_error([&] { engine.backward(model.micro_batch(0)); },
                         "engine 'gone': backward() after destroy(); make a new engine");
    require_engine_error([&] { engine.step(); }, "step() after destroy()");
    require_engine_error([&] { engine.offload_states(); }, "offload_states() after destroy()");
    require_engine_error([&] { engine.reload_states(); }, "reload_states() after destroy()");
    require_engine_error([&] { static_cast<void>(engine.snapshot(OffloadState::hp_params)); },
                         "snapshot() after destroy()");
    for (const auto state : zero::all_offload_states) REQUIRE(engine.size_bytes(state) == 0);
}

TEST_CASE("An engine is not made from nothing, nor from values that low precision cannot hold") {
    const auto accelerator = make_cpu_accelerator();
    const auto make = [&](const zero::Config& config, const std::vector<zero::ParameterGroup>& groups) {
        zero::Engine engine(config, accelerator, groups, {.name = "new"});
    };
    require_engine_error([&] { make({}, {}); }, "0 parameter group(s) hold no element");
    require_engine_error([&] { make({}, {{.name = "empty", .parameters = {}}}); }, "hold no element");
    require_engine_error([&] { zero::Engine engine({}, nullptr, model.groups()); },
                         "the accelerator is null");

    const std::array<float, 3> values{0.0F, 1.0F, 70'000.0F};
    const std::vector<zero::ParameterGroup> large{{.name = "group", .parameters = {{"weight", values}}}};
    zero::Config fp16;
    fp16.low_precision = zero::LowPrecision::fp16;
    require_engine_error(
        [&] { make(fp16, large); },
        "element 2 of parameter 'weight' of group 'group' is 70000, which is not finite in fp16");
    make({}, large);
    const std::array<float, 1> nan{std::numeric_limits<float>::quiet_NaN()};
    require_engine_error(
        [&] {
            make({}, {{.name = "group", .parameters = {{"weight", nan}}}});
        },
        "not finite in bf16");

    for (const std::int64_t stage : {0, 4}) {
        zero::Config config;
        config.zero_optimization.stage = stage;
        require_engine_error([&] { make(config, model.groups()); }, "this engine runs stages 1, 2 and 3");
    }
    zero::Config config;
    config.gradient_accumulation_steps = 0;
    require_engine_error([&] { make(config, model.groups()); }, "gradient_accumulation_steps is 0");
    config = {};
    config.zero_optimization.reduce_bucket_size = 0;
    require_engine_error([&] { make(config, model.groups()); }, "reduce_bucket_size is 0");
    config = {};
    config.zero_optimization.sub_group_size = 0;
    require_engine_error([&] { make(config, model.groups()); }, "sub_group_size is 0");
    REQUIRE(accelerator->memory().in_use == 0);
}

TEST_CASE("A pin that is refused while an engine offloads leaves it as it was") {
    const auto backend = std::make_shared<ScriptedBackend>();
    zero::Engine engine({}, make_cpu_accelerator(), model.groups(), {.backend = backend});
    const auto before = contents_of(engine);
    backend->fail_acquire(4);
    REQUIRE_THROWS_AS(engine.offload_states(), PinError);
    for (const auto state : zero::all_offload_states)
        REQUIRE(engine.location(state) == StateLocation::device);
    REQUIRE(contents_of(engine) == before);
    REQUIRE(eventually([&] {
        audit::Registry::instance().collect();
        return backend->outstanding().empty();
    }));
}

TEST_CASE("Preferring pinned memory falls back where pins are refused") {
    const auto backend = std::make_shared<ScriptedBackend>();
    zero::Engine engine({}, make_cpu_accelerator(), model.groups(), {.backend = backend});
    const auto before = contents_of(engine);
    backend->fail_acquire(1);
    engine.offload_states(OffloadStates::all(), Pinning::prefer_pinned);
    REQUIRE_FALSE(engine.is_pinned(OffloadState::optim_states));
    REQUIRE(engine.is_pinned(OffloadState::hp_params));
    REQUIRE(contents_of(engine) == before);
}
