// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <pinwarden/accelerator/cpu_accelerator.hpp>
#include <pinwarden/audit/registry.hpp>
#include <pinwarden/backend/native_backend.hpp>
#include <pinwarden/core/process_memory.hpp>
#include <pinwarden/superoffload/core_set.hpp>
#include <pinwarden/zero/engine.hpp>
#include <pinwarden/zero/thread_ranks.hpp>

#include <support/engine_states.hpp>
#include <support/least_squares.hpp>
#include <support/rank_check.hpp>

// Engines with SuperOffload against engines without: the same bits, on every stage and number of ranks.

using namespace pinwarden;
using namespace pinwarden::testing;
using zero::OffloadState;
using zero::OffloadStates;

namespace {

const LeastSquares model;

struct Setting {
    std::int64_t stage = 2;
    std::size_t ranks = 1;
    std::size_t node = 1;
    bool parameters_on_host = false;
    bool pin = true;
    zero::LowPrecision format = zero::LowPrecision::bf16;

    [[nodiscard]] std::string text() const {
        return "stage " + std::to_string(stage) + ", " + std::to_string(ranks) + " rank(s), nodes of " +
               std::to_string(node) + (parameters_on_host ? ", parameters on the host" : "") +
               (pin ? ", pinned, " : ", pageable, ") + std::string(name(format));
    }
};

// Both formats and both kinds of memory on each stage and number of ranks, two of the four pairs each.
std::vector<Setting> all_settings() {
    std::vector<Setting> settings;
    for (const std::size_t ranks : {1U, 2U, 4U}) {
        for (const bool first : {true, false}) {
            Setting setting{.ranks = ranks,
                            .pin = first,
                            .format = first ? zero::LowPrecision::bf16 : zero::LowPrecision::fp16};
            for (const std::int64_t stage : {1, 2, 3}) {
                setting.stage = stage;
                settings.push_back(setting);
            }
            setting.parameters_on_host = true;
            settings.push_back(setting);
            if (ranks == 1) continue;
            setting.node = 2;
            settings.push_back(setting);
        }
    }
    return settings;
}

zero::Config config_of(const Setting& setting, bool super_offload) {
    zero::Config config;
    config.low_precision = setting.format;
    config.fp16.initial_scale_power = 22;  // overflows at first
    config.fp16.hysteresis = 1;
    config.gradient_accumulation_steps = 2;
    config.gradient_clipping = 0.7;  // clips some steps and leaves others alone
    config.optimizer.learning_rate = 0.01;
    config.optimizer.weight_decay = 0.01;
    auto& zero = config.zero_optimization;
    zero.stage = setting.stage;
    zero.reduce_bucket_size = 100;
    zero.sub_group_size = 150;
    zero.zero_hpz_partition_size = setting.node;
    zero.offload_optimizer = {
        .device = zero::OffloadDevice::cpu, .pin_memory = setting.pin, .super_offload = super_offload};
    if (setting.parameters_on_host)
        zero.offload_param = {.device = zero::OffloadDevice::cpu, .pin_memory = setting.pin};
    return config;
}

zero::EngineOptions options_of(std::size_t rank, const zero::CommunicatorPtr& ranks) {
    zero::EngineOptions options;
    options.backend = native_backend();
    options.name = "rank " + std::to_string(rank);
    options.communicator = ranks;
    options.super_offload.workers = 1;
    options.super_offload.queue_capacity = 2;
    return options;
}

// All that a run shows of one rank.
struct Trace {
    std::vector<std::uint64_t> bits;  // of losses, norms, loss scales and applied steps, in their order
    std::vector<StateContents> contents;

    friend bool operator==(const Trace&, const Trace&) = default;
};

// Trains on all ranks and calls `between(engine, micro-batch)` after each backward().
template <typename Between>
std::vector<Trace> train(const Setting& setting, bool super_offload, std::size_t micro_batches,
                         Between between) {
    std::vector<Trace> traces(setting.ranks);
    zero::run_ranks(setting.ranks, [&](const zero::CommunicatorPtr& ranks) {
        const std::size_t rank = ranks->rank();
        const auto accelerator = make_cpu_accelerator();
        zero::Engine engine(config_of(setting, super_offload), accelerator, model.groups(),
                            options_of(rank, ranks));
        Trace& trace = traces[rank];
        for (std::size_t i = 0; i < micro_batches; ++i) {
            const double loss = engine.backward(model.micro_batch(i * setting.ranks + rank));
            between(engine, i);
            const auto result = engine.step();
            // As bits, for the norm of gradients that overflowed is not equal to itself.
            for (const double number :
                 {loss, result.grad_norm, result.loss_scale, result.applied ? 1.0 : 0.0})
                trace.bits.push_back(std::bit_cast<std::uint64_t>(number));
            if (result.applied) trace.contents.push_back(contents_of(engine));
        }
        engine.destroy();
        ensure(live_pins_of("rank " + std::to_string(rank)) == audit::Tally{});
        ensure(accelerator->memory().in_use == 0);
    });
    return traces;
}

void nothing(zero::Engine&, std::size_t) {}

struct Locked {
    std::size_t kernel = kernel_locked_bytes();
    std::size_t registry = registry_locked_bytes();
    friend bool operator==(const Locked&, const Locked&) = default;
};

}  // namespace

TEST_CASE("With SuperOffload every engine computes the bits of one without, through clipping and overflows") {
    for (const auto& setting : all_settings()) {
        CAPTURE(setting.text());
        const Locked before;
        const auto expected = train(setting, false, 24, nothing);
        const auto found = train(setting, true, 24, nothing);
        REQUIRE(found == expected);
        REQUIRE(expected.front().contents.size() > 2);
        REQUIRE((expected.front().contents.size() < 12) == (setting.format == zero::LowPrecision::fp16));
        REQUIRE(Locked() == before);
    }
}

TEST_CASE(
    "The states between backward and step are those before the step, and looking at them changes nothing") {
    for (const auto& setting : all_settings()) {
        CAPTURE(setting.text());
        std::mutex mutex;
        std::vector<std::vector<StateContents>> seen(2);
        const auto look_into = [&](std::size_t run) {
            return [&, run](const zero::Engine& engine, std::size_t i) {
                if (setting.ranks != 1 || i % 3 != 1) return;
                const std::scoped_lock lock(mutex);
                seen[run].push_back(contents_of(engine));
            };
        };
        const auto expected = train(setting, false, 12, look_into(0));
        REQUIRE(train(setting, true, 12, look_into(1)) == expected);
        REQUIRE(seen[0] == seen[1]);
    }
}

TEST_CASE("States that are offloaded and reloaded while a step is speculated train on to the same bits") {
    std::vector<OffloadStates> subsets(zero::all_offload_states.begin(), zero::all_offload_states.end());
    subsets.push_back(OffloadStates::all());
    std::size_t way = 0;
    for (const auto& setting : all_settings()) {
        const auto expected = train(setting, false, 8, nothing);
        for (const auto include : subsets) {
            const auto pinning = (++way & 1U) != 0 ? Pinning::pinned : Pinning::pageable;
            const bool non_blocking = (way & 2U) != 0;
            CAPTURE(setting.text(), to_string(include), pinning == Pinning::pinned, non_blocking);
            const Locked before;
            const auto move = [&](zero::Engine& engine, std::size_t i) {
                if (i % 4 < 2) return;
                engine.offload_states(include, pinning, non_blocking);
                engine.reload_states(non_blocking);
            };
            REQUIRE(train(setting, true, 8, move) == expected);
            REQUIRE(Locked() == before);
        }
    }
}

TEST_CASE("Two hundred speculated steps with offloads of random subsets give the losses of a run without") {
    const auto stage = GENERATE(std::int64_t{1}, std::int64_t{2}, std::int64_t{3});
    const Setting setting{.stage = stage};
    std::uint32_t random = 4'711;
    const auto move = [&](zero::Engine& engine, std::size_t i) {
        if (i % 20 != 1) return;
        random = random * 1'664'525U + 1'013'904'223U;
        OffloadStates subset;
        for (const auto state : zero::all_offload_states) {
            if (((random >> (16U + static_cast<unsigned>(state))) & 1U) != 0) subset.insert(state);
        }
        engine.offload_states(subset, Pinning::pinned, (random >> 24U) % 2 == 0);
        engine.reload_states((random >> 25U) % 2 == 0);
    };
    REQUIRE(train(setting, true, 400, move) == train(setting, false, 400, nothing));
}

TEST_CASE("The gradients of SuperOffload are one pin where pin_memory says so, and none where it does not") {
    for (const bool pin : {true, false}) {
        zero::Engine engine(config_of({.pin = pin}, true), make_cpu_accelerator(), model.groups(),
                            options_of(0, nullptr));
        std::size_t pins = 0;
        for (const auto& record : audit::Registry::instance().snapshot()) {
            if (record.label != "super_offload_gradients") continue;
            ++pins;
            REQUIRE(record.scope == "rank 0");
            REQUIRE(record.bytes == LeastSquares::parameter_count * sizeof(zero::Bf16));
        }
        REQUIRE(pins == (pin ? 1 : 0));
        if (!pin) REQUIRE(live_pins_of("rank 0") == audit::Tally{});
        engine.destroy();
    }
}

TEST_CASE("Host Adam takes sub-groups while backward still runs, on cores that the caller leaves to it") {
    const auto own_cores = zero::CoreSet::of_this_thread();
    const auto split = zero::split_cores(own_cores, 0.8);
    std::atomic<bool> in_backward = false;
    std::atomic<std::size_t> during = 0;
    std::atomic<std::size_t> calls = 0;
    std::atomic<bool> elsewhere = false;
    auto options = options_of(0, nullptr);
    options.super_offload.queue_capacity = 1;
    options.super_offload.before_sub_group = [&](std::size_t) {
        if (in_backward) ++during;
        if (zero::CoreSet::of_this_thread() != split.adam) elsewhere = true;
        ++calls;
    };
    auto config = config_of({}, true);
    config.gradient_clipping = 0.0;
    zero::Engine engine(config, make_cpu_accelerator(), model.groups(), options);
    for (std::size_t i = 0; i < 4; ++i) {
        const auto loss = model.micro_batch(i);
        in_backward = true;
        engine.backward([&](gsl::span<const float> parameters, gsl::span<float> gradients) {
            const bool last = i % 2 == 1;
            if (last)
                REQUIRE(zero::CoreSet::of_this_thread() == (split.rest.empty() ? own_cores : split.rest));
            return loss(parameters, gradients);
        });
        in_backward = false;
        REQUIRE(zero::CoreSet::of_this_thread() == own_cores);
        engine.step();
    }
    // One worker has one sub-group at hand and one in the queue: all before these were taken within
    // backward().
    const std::size_t of_a_step = calls / 2;
    REQUIRE(of_a_step > 8);
    REQUIRE(during >= 2 * (of_a_step - 2));
    REQUIRE_FALSE(elsewhere);
}
