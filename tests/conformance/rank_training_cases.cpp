// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <mutex>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <pinwarden/accelerator/cpu_accelerator.hpp>
#include <pinwarden/zero/engine.hpp>
#include <pinwarden/zero/thread_ranks.hpp>

#include <support/engine_states.hpp>
#include <support/least_squares.hpp>
#include <support/rank_check.hpp>

// What several ranks compute together, against what one computes alone.

using namespace pinwarden;
using namespace pinwarden::testing;
using zero::OffloadState;

namespace {

struct Setting {
    std::int64_t stage = 1;
    bool optimizer_on_host = false;
    bool parameters_on_host = false;
    std::size_t node = 1;
};

const std::vector<Setting> settings{
    {.stage = 1},
    {.stage = 1, .optimizer_on_host = true},
    {.stage = 2},
    {.stage = 2, .optimizer_on_host = true},
    {.stage = 3},
    {.stage = 3, .optimizer_on_host = true},
    {.stage = 3, .optimizer_on_host = true, .parameters_on_host = true},
    {.stage = 3, .node = 2},
    {.stage = 3, .optimizer_on_host = true, .parameters_on_host = true, .node = 2},
};

zero::Config config_of(const Setting& setting, std::size_t ranks, std::size_t micro_batches) {
    zero::Config config;
    config.gradient_accumulation_steps = static_cast<std::int64_t>(micro_batches / ranks);
    config.optimizer.learning_rate = 0.01;
    config.optimizer.weight_decay = 0.01;
    auto& zero = config.zero_optimization;
    zero.stage = setting.stage;
    zero.reduce_bucket_size = 1'000;
    zero.sub_group_size = 700;
    if (setting.optimizer_on_host) {
        zero.offload_optimizer = {.device = zero::OffloadDevice::cpu, .pin_memory = true};
    }
    if (setting.parameters_on_host) {
        zero.offload_param = {.device = zero::OffloadDevice::cpu, .pin_memory = true};
    }
    zero.zero_hpz_partition_size = std::min(setting.node, ranks);
    return config;
}

// A model with parameters of no element, of one, and of fewer than there are ranks.
class Quadratic {
public:
    static constexpr std::array<std::size_t, 7> sizes{0, 1, 3, 0, 1'031, 2, 517};
    static constexpr std::size_t count = 1 + 3 + 1'031 + 2 + 517;

    Quadratic() : values_(count) {
        for (std::size_t i = 0; i < count; ++i) values_[i] = std::sin(static_cast<float>(i));
    }

    [[nodiscard]] std::vector<zero::ParameterGroup> groups() const {
        std::vector<zero::ParameterGroup> groups(3);
        groups[0].name = "one";
        groups[1].name = "none";
        groups[2].name = "two";
        groups[2].weight_decay = 0.0;
        std::size_t offset = 0;
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            groups[i < 4 ? 0 : 2].parameters.push_back(
                {"p" + std::to_string(i), gsl::span<const float>(values_).subspan(offset, sizes.at(i))});
            offset += sizes.at(i);
        }
        return groups;
    }

    // The mean square of the distance to a target that each micro-batch sees with its own noise.
    [[nodiscard]] zero::LossFunction micro_batch(std::size_t index) const {
        return [index](gsl::span<const float> parameters, gsl::span<float> gradients) {
            double loss = 0.0;
            for (std::size_t i = 0; i < parameters.size(); ++i) {
                const float noise = std::cos(static_cast<float>(i * 31 + index * 17));
                const float error = parameters[i] - 0.5F - 0.3F * noise;
                gradients[i] = 2.0F * error / static_cast<float>(count);
                loss += static_cast<double>(error) * static_cast<double>(error) / static_cast<double>(count);
            }
            return loss;
        };
    }

private:
    std::vector<float> values_;
};

struct Run {
    std::vector<std::vector<double>> losses;  // of each step, of all micro-batches in their order
    std::vector<double> norms;
    std::vector<float> seen;  // the parameters as a model sees them after the last step
};

// Trains `steps` steps of `micro_batches` each on so many ranks. Micro-batch i of a step belongs to rank
// i modulo the number of ranks.
Run train(const Setting& setting, std::size_t ranks, std::size_t micro_batches, std::size_t steps,
          double clipping = 0.0) {
    const Quadratic model;
    Run run;
    run.losses.assign(steps, std::vector<double>(micro_batches));
    run.norms.assign(steps, 0.0);
    std::mutex mutex;
    zero::run_ranks(ranks, [&](const zero::CommunicatorPtr& communicator) {
        auto config = config_of(setting, ranks, micro_batches);
        config.gradient_clipping = clipping;
        const std::size_t rank = communicator->rank();
        zero::Engine engine(config, make_cpu_accelerator(), model.groups(),
                            {.name = "rank " + std::to_string(rank), .communicator = communicator});
        ensure(engine.parameter_count() == Quadratic::count);
        for (std::size_t step = 0; step < steps; ++step) {
            for (std::size_t i = rank; i < micro_batches; i += ranks) {
                const double loss = engine.backward(model.micro_batch(step * micro_batches + i));
                const std::scoped_lock lock(mutex);
                run.losses[step][i] = loss;
            }
            const auto result = engine.step();
            ensure(result.applied);
            const std::scoped_lock lock(mutex);
            if (rank == 0) run.norms[step] = result.grad_norm;
        }
        std::vector<float> seen;
        engine.backward([&](gsl::span<const float> parameters, gsl::span<float>) {
            seen.assign(parameters.begin(), parameters.end());
            return 0.0;
        });
        {
            const std::scoped_lock lock(mutex);
            if (run.seen.empty()) run.seen = seen;
            ensure(run.seen == seen, "the ranks see the same parameters");
        }
        engine.destroy();
    });
    return run;
}

bool close(double left, double right) { return std::abs(left - right) <= 2e-2 * std::abs(right); }

}  // namespace

TEST_CASE("Four ranks with one micro-batch each compute the bits of one rank with four") {
    const auto alone = train({.stage = 2}, 1, 4, 12);
    REQUIRE(alone.losses.back()[0] < alone.losses.front()[0]);
    for (const auto& setting : settings) {
        CAPTURE(setting.stage, setting.optimizer_on_host, setting.parameters_on_host, setting.node);
        const auto together = train(setting, 4, 4, 12);
        REQUIRE(together.losses == alone.losses);
        REQUIRE(together.seen == alone.seen);
        for (std::size_t i = 0; i < alone.norms.size(); ++i)
            REQUIRE(std::abs(together.norms[i] - alone.norms[i]) <= 1e-12 * alone.norms[i]);
    }
}

TEST_CASE("Every stage computes the same bits on the same number of ranks, and nearly those of one") {
    const auto alone = train({.stage = 2}, 1, 4, 12);
    for (const std::size_t ranks : {1U, 2U}) {
        // Stage 1 adds up a rank's micro-batches before it reduces them, the others after.
        const auto first = train({.stage = 1}, ranks, 4, 12);
        const auto second = train({.stage = 2}, ranks, 4, 12);
        for (const auto& setting : settings) {
            CAPTURE(ranks, setting.stage, setting.optimizer_on_host, setting.parameters_on_host,
                    setting.node);
            const auto together = train(setting, ranks, 4, 12);
            const auto& same = setting.stage == 1 ? first : second;
            REQUIRE(together.losses == same.losses);
            REQUIRE(together.seen == same.seen);
            for (std::size_t step = 0; step < alone.losses.size(); ++step) {
                for (std::size_t i = 0; i < 4; ++i)
                    REQUIRE(close(together.losses[step][i], alone.losses[step][i]));
            }
        }
    }
}

TEST_CASE("Ranks agree on the norm and clip by it") {
    const auto free = train({.stage = 1}, 1, 4, 6);
    const double clipping = free.norms.front() / 4.0;
    const auto alone = train({.stage = 1}, 1, 4, 6, clipping);
    REQUIRE(alone.seen != free.seen);
    for (const auto& setting : settings) {
        CAPTURE(setting.stage, setting.optimizer_on_host, setting.node);
        const auto together = train(setting, 4, 4, 6, clipping);
        REQUIRE(together.seen == alone.seen);
    }
}

TEST_CASE("An overflow on one rank is an overflow on all, and changes nothing on any") {
    const LeastSquares model;
    for (const auto& setting : settings) {
        CAPTURE(setting.stage, setting.optimizer_on_host, setting.node);
        zero::run_ranks(4, [&](const zero::CommunicatorPtr& ranks) {
            auto config = config_of(setting, 4, 4);
            config.low_precision = zero::LowPrecision::fp16;
            config.fp16.initial_scale_power = 8;
            config.fp16.hysteresis = 1;
            zero::Engine engine(config, make_cpu_accelerator(), model.groups(), {.communicator = ranks});
            const auto before = engine.snapshot(OffloadState::hp_params);
            const std::size_t rank = ranks->rank();
            engine.backward([&](gsl::span<const float> parameters, gsl::span<float> gradients) {
                std::fill(gradients.begin(), gradients.end(), 0.125F);
                // In the shard of another rank.
                if (rank == 3) gradients[0] = std::numeric_limits<float>::infinity();
                return static_cast<double>(parameters[0]);
            });
            const auto result = engine.step();
            ensure(result.overflow && !result.applied);
            ensure(engine.loss_scale() == 128.0);
            ensure(engine.skipped_steps() == 1);
            ensure(engine.snapshot(OffloadState::hp_params) == before);
            engine.backward(model.micro_batch(rank));
            ensure(engine.step().applied);
            engine.destroy();
        });
    }
}

TEST_CASE("All ranks start from the parameters of the first") {
    zero::run_ranks(3, [&](const zero::CommunicatorPtr& ranks) {
        const std::vector<float> own(10, static_cast<float>(ranks->rank() + 1));
        const std::vector<zero::ParameterGroup> groups{{.name = "g", .parameters = {{"p", own}}}};
        zero::Engine engine({}, make_cpu_accelerator(), groups, {.communicator = ranks});
        engine.backward([&](gsl::span<const float> parameters, gsl::span<float>) {
            for (const float value : parameters) ensure(value == 1.0F);
            return 0.0;
        });
    });
}

TEST_CASE("Each rank holds its shard and no more") {
    const LeastSquares model;
    for (const std::int64_t stage : {1, 2, 3}) {
        std::array<std::atomic<std::size_t>, zero::all_offload_states.size()> bytes{};
        zero::run_ranks(4, [&](const zero::CommunicatorPtr& ranks) {
            zero::Engine engine(config_of({.stage = stage}, 4, 4), make_cpu_accelerator(), model.groups(),
                                {.communicator = ranks});
            for (std::size_t i = 0; i < bytes.size(); ++i)
                bytes.at(i) += engine.size_bytes(zero::all_offload_states.at(i));
        });
        constexpr std::size_t all = LeastSquares::parameter_count;
        const auto total = [&](OffloadState state) {
            return bytes.at(static_cast<std::size_t>(state)).load();
        };
        CAPTURE(stage);
        REQUIRE(total(OffloadState::hp_params) == all * 4);
        REQUIRE(total(OffloadState::optim_states) == all * 8);
        REQUIRE(total(OffloadState::lp_grads) == (stage == 1 ? 4 : 1) * all * 2);
        REQUIRE(total(OffloadState::lp_params) == (stage == 3 ? 1 : 4) * all * 2);
    }
}

TEST_CASE("A configuration that the ranks cannot follow is refused on each") {
    const LeastSquares model;
    zero::run_ranks(3, [&](const zero::CommunicatorPtr& ranks) {
        auto config = config_of({.stage = 3}, 3, 3);
        config.zero_optimization.zero_hpz_partition_size = 2;
        ensure_throws<zero::EngineError>(
            [&] {
                zero::Engine engine(config, make_cpu_accelerator(), model.groups(), {.communicator = ranks});
            },
            "zero_hpz_partition_size is 2, which does not divide the 3 rank(s)");
    });
}

TEST_CASE(
    "An engine that is destroyed earlier than the others ends their training with an error, not a wait") {
    const LeastSquares model;
    for (const auto& setting : settings) {
        std::atomic<int> ended{0};
        zero::run_ranks(4, [&](zero::CommunicatorPtr ranks) {
            const std::size_t rank = ranks->rank();
            zero::Engine engine(config_of(setting, 4, 4), make_cpu_accelerator(), model.groups(),
                                {.name = "rank " + std::to_string(rank), .communicator = ranks});
            ranks.reset();
            engine.backward(model.micro_batch(rank));
            engine.step();
            engine.offload_states();
            if (rank == 1) {
                engine.destroy();
                return;
            }
            engine.reload_states();
            ensure_throws<zero::CommunicationError>(
                [&] {
                    engine.backward(model.micro_batch(rank));
                    engine.step();
                },
                "rank 1 has left the group");
            ensure(engine.snapshot(OffloadState::hp_params).size() ==
                   engine.size_bytes(OffloadState::hp_params));
            engine.offload_states();
            engine.destroy();
            ++ended;
        });
        REQUIRE(ended == 3);
        REQUIRE(live_pins_of("rank 0") == audit::Tally{});
    }
}
