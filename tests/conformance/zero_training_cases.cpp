// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

#include <pinwarden/accelerator/cpu_accelerator.hpp>
#include <pinwarden/zero/adam.hpp>
#include <pinwarden/zero/engine.hpp>

#include <support/engine_states.hpp>
#include <support/least_squares.hpp>

// That the engine really trains, and by the rules: what a step computes, when it is skipped, and what must
// not change its result.

using namespace pinwarden;
using namespace pinwarden::testing;
using Catch::Matchers::WithinRel;
using zero::OffloadState;

namespace {

const LeastSquares model;

// A model whose gradients are given numbers, whatever its parameters are.
zero::LossFunction gradients_of(const std::vector<float>& given) {
    return [&given](gsl::span<const float>, gsl::span<float> gradients) {
        std::copy(given.begin(), given.end(), gradients.begin());
        return 1.0;
    };
}

std::vector<float> floats_of(const zero::Engine& engine, OffloadState state) {
    const auto bytes = engine.snapshot(state);
    std::vector<float> values(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
}

// Two groups of two and one elements.
const std::array<float, 2> first_values{0.5F, -1.25F};
const std::array<float, 1> second_values{2.0F};

std::vector<zero::ParameterGroup> small_groups() {
    return {
        {.name = "first", .parameters = {{"a", first_values}}},
        {.name = "second", .parameters = {{"b", second_values}}, .weight_decay = 0.5, .learning_rate = 0.25}};
}

zero::Config fp16_config() {
    zero::Config config;
    config.low_precision = zero::LowPrecision::fp16;
    return config;
}

double train(zero::Engine& engine, std::size_t steps, double& first_loss) {
    double last = 0.0;
    for (std::size_t i = 0; i < steps; ++i) {
        last = engine.backward(model.micro_batch(i % 64));
        if (i == 0) first_loss = last;
        engine.step();
    }
    return last;
}

}  // namespace

TEST_CASE("A step applies Adam to the rounded, averaged gradients, each group with its own options") {
    zero::Config config;
    config.gradient_accumulation_steps = 2;
    config.optimizer.learning_rate = 0.125;
    config.optimizer.weight_decay = 0.01;
    zero::Engine engine(config, make_cpu_accelerator(), small_groups());
    const std::vector<float> one{0.3F, -0.7F, 1.1F};
    const std::vector<float> two{0.9F, 0.2F, -0.4F};
    engine.backward(gradients_of(one));
    engine.backward(gradients_of(two));
    REQUIRE(engine.step().applied);

    std::array<float, 3> hp{0.5F, -1.25F, 2.0F};
    std::array<float, 3> exp_avg{};
    std::array<float, 3> exp_avg_sq{};
    std::array<zero::Bf16, 3> gradients{};
    double squares = 0.0;
    for (std::size_t i = 0; i < 3; ++i) {
        const auto half_one = zero::Bf16::from_float(one[i] * 0.5F);
        const auto half_two = zero::Bf16::from_float(two[i] * 0.5F);
        gradients[i] = zero::Bf16::from_float(half_one.to_float() + half_two.to_float());
        squares +=
            static_cast<double>(gradients[i].to_float()) * static_cast<double>(gradients[i].to_float());
    }
    auto options = config.optimizer;
    const auto update = [&](std::size_t begin, std::size_t count) {
        zero::adam_update(1, options,
                          {.hp = gsl::span(hp).subspan(begin, count),
                           .exp_avg = gsl::span(exp_avg).subspan(begin, count),
                           .exp_avg_sq = gsl::span(exp_avg_sq).subspan(begin, count)},
                          gsl::span<const zero::Bf16>(gradients).subspan(begin, count));
    };
    update(0, 2);
    options.weight_decay = 0.5;
    options.learning_rate = 0.25;
    update(2, 1);
    REQUIRE(floats_of(engine, OffloadState::hp_params) == std::vector<float>(hp.begin(), hp.end()));
    REQUIRE(floats_of(engine, OffloadState::optim_states) == std::vector<float>{exp_avg[0], exp_avg[1],
                                                                                exp_avg_sq[0], exp_avg_sq[1],
                                                                                exp_avg[2], exp_avg_sq[2]});
    const auto lp = engine.snapshot(OffloadState::lp_params);
    for (std::size_t i = 0; i < 3; ++i) {
        zero::Bf16 value;
        std::memcpy(&value, lp.data() + i * sizeof(value), sizeof(value));
        REQUIRE(value == zero::Bf16::from_float(hp[i]));
    }

    engine.backward(gradients_of(one));
    engine.backward(gradients_of(two));
    REQUIRE_THAT(engine.step().grad_norm, WithinRel(std::sqrt(squares), 1e-12));
}

TEST_CASE("Gradients beyond the largest norm are scaled down to it, and others are left alone") {
    const std::vector<float> gradients{3.0F, 4.0F, 12.0F};  // a norm of 13, exact in bf16
    const auto moments_with = [&](double clipping, double& norm) {
        zero::Config config;
        config.gradient_clipping = clipping;
        zero::Engine engine(config, make_cpu_accelerator(), small_groups());
        engine.backward(gradients_of(gradients));
        norm = engine.step().grad_norm;
        return floats_of(engine, OffloadState::optim_states);
    };
    double norm = 0.0;
    const auto unclipped = moments_with(0.0, norm);
    REQUIRE(norm == 13.0);
    REQUIRE(moments_with(26.0, norm) == unclipped);
    const auto clipped = moments_with(1.3, norm);
    REQUIRE(norm == 13.0);
    for (const std::size_t exp_avg : {0U, 1U, 4U}) {
        REQUIRE_THAT(static_cast<double>(clipped[exp_avg]),
                     WithinRel(static_cast<double>(unclipped[exp_avg]) / 10.0, 1e-6));
    }
}

TEST_CASE("Where the optimizer runs, the stage, the bucket and the sub-groups do not change one bit") {
    const auto run = [](const zero::Config& config) {
        zero::Engine engine(config, make_cpu_accelerator(), model.groups());
        for (std::size_t i = 0; i < 12; ++i) {
            engine.backward(model.micro_batch(i));
            engine.step();
        }
        auto contents = contents_of(engine);
        contents.back().clear();
        return contents;
    };
    for (const auto format : {zero::LowPrecision::bf16, zero::LowPrecision::fp16}) {
        zero::Config config;
        config.low_precision = format;
        config.fp16.initial_scale_power = 8;
        config.gradient_accumulation_steps = 3;
        config.gradient_clipping = 0.5;
        const auto reference = run(config);
        for (const std::int64_t stage : {1, 2}) {
            for (const std::size_t bucket : {1U, 20U, 1'536U, 1'540U, 1'000'000U}) {
                for (const std::size_t sub_group : {7U, 1'000'000U}) {
                    for (const auto device : {zero::OffloadDevice::none, zero::OffloadDevice::cpu}) {
                        CAPTURE(stage, bucket, sub_group, device == zero::OffloadDevice::cpu);
                        config.zero_optimization.stage = stage;
                        config.zero_optimization.reduce_bucket_size = bucket;
                        config.zero_optimization.sub_group_size = sub_group;
                        config.zero_optimization.offload_optimizer = {.device = device,
                                                                      .pin_memory = bucket == 20};
                        REQUIRE(run(config) == reference);
                    }
                }
            }
        }
    }
}

TEST_CASE("The bucket holds at most its configured size, or the largest parameter") {
    const auto elements_for = [](std::size_t bucket) {
        zero::Config config;
        config.zero_optimization.reduce_bucket_size = bucket;
        const zero::Engine engine(config, make_cpu_accelerator(), model.groups());
        return engine.size_bytes(OffloadState::contiguous_grad_buffer) / sizeof(zero::Bf16);
    };
    constexpr std::size_t largest = LeastSquares::inputs * LeastSquares::outputs;
    REQUIRE(elements_for(1) == largest);
    REQUIRE(elements_for(largest) == largest);
    REQUIRE(elements_for(LeastSquares::parameter_count - 1) == largest);
    REQUIRE(elements_for(LeastSquares::parameter_count) == LeastSquares::parameter_count);
    REQUIRE(elements_for(500'000'000) == LeastSquares::parameter_count);
}

TEST_CASE("A dynamic loss scale is halved by overflows, whose steps change nothing") {
    auto config = fp16_config();
    config.fp16.initial_scale_power = 4;
    config.fp16.hysteresis = 1;
    config.fp16.loss_scale_window = 2;
    const bool on_host = GENERATE(false, true);
    if (on_host) config.zero_optimization.offload_optimizer.device = zero::OffloadDevice::cpu;
    zero::Engine engine(config, make_cpu_accelerator(), small_groups());
    const auto before = floats_of(engine, OffloadState::hp_params);
    const std::vector<float> too_large{5'000.0F, 0.0F, 0.0F};  // times 16 is beyond fp16's 65504
    engine.backward(gradients_of(too_large));
    const auto skipped = engine.step();
    REQUIRE_FALSE(skipped.applied);
    REQUIRE(skipped.overflow);
    REQUIRE(skipped.loss_scale == 16.0);
    REQUIRE_FALSE(std::isfinite(skipped.grad_norm));
    REQUIRE(engine.loss_scale() == 8.0);
    REQUIRE(engine.skipped_steps() == 1);
    REQUIRE(engine.global_steps() == 0);
    REQUIRE(floats_of(engine, OffloadState::hp_params) == before);

    engine.backward(gradients_of(too_large));
    const auto applied = engine.step();
    REQUIRE(applied.applied);
    REQUIRE_FALSE(applied.overflow);
    REQUIRE(applied.grad_norm == 5'000.0);
    REQUIRE(engine.global_steps() == 1);
    const std::vector<float> small{1.0F, 0.0F, 0.0F};
    for (int i = 0; i < 2; ++i) {
        engine.backward(gradients_of(small));
        REQUIRE(engine.step().applied);
    }
    REQUIRE(engine.loss_scale() == 16.0);
}

TEST_CASE("The loss scale does not change what a step computes") {
    const std::vector<float> gradients{0.25F, -0.5F, 1.0F};
    const auto run = [&](double scale) {
        auto config = fp16_config();
        config.fp16.loss_scale = scale;
        zero::Engine engine(config, make_cpu_accelerator(), small_groups());
        engine.backward(gradients_of(gradients));
        const auto result = engine.step();
        REQUIRE(result.loss_scale == scale);
        REQUIRE(engine.loss_scale() == scale);
        return floats_of(engine, OffloadState::hp_params);
    };
    REQUIRE(run(128.0) == run(1.0));
}

TEST_CASE("A static loss scale skips overflows and stays as it is") {
    auto config = fp16_config();
    config.fp16.loss_scale = 128.0;
    zero::Engine engine(config, make_cpu_accelerator(), small_groups());
    const std::vector<float> too_large{5'000.0F, 0.0F, 0.0F};
    engine.backward(gradients_of(too_large));
    REQUIRE(engine.step().overflow);
    REQUIRE(engine.loss_scale() == 128.0);
}

TEST_CASE("An overflow at the least loss scale is an error, and training may go on after it") {
    auto config = fp16_config();
    config.fp16.initial_scale_power = 0;
    config.fp16.hysteresis = 1;
    zero::Engine engine(config, make_cpu_accelerator(), small_groups());
    const auto before = floats_of(engine, OffloadState::hp_params);
    const std::vector<float> infinite{std::numeric_limits<float>::infinity(), 0.0F, 0.0F};
    engine.backward(gradients_of(infinite));
    REQUIRE_THROWS_AS(engine.step(), zero::LossScaleError);
    REQUIRE(engine.skipped_steps() == 1);
    REQUIRE(floats_of(engine, OffloadState::hp_params) == before);
    const std::vector<float> small{1.0F, 0.0F, 0.0F};
    engine.backward(gradients_of(small));
    REQUIRE(engine.step().applied);
}

TEST_CASE("Gradients that are not finite are never applied in bf16 either") {
    for (const float bad :
         {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
        zero::Engine engine({}, make_cpu_accelerator(), small_groups());
        const auto before = floats_of(engine, OffloadState::hp_params);
        const std::vector<float> gradients{1.0F, bad, 1.0F};
        engine.backward(gradients_of(gradients));
        const auto result = engine.step();
        REQUIRE_FALSE(result.applied);
        REQUIRE(result.overflow);
        REQUIRE_FALSE(std::isfinite(result.grad_norm));
        REQUIRE(result.loss_scale == 1.0);
        REQUIRE(floats_of(engine, OffloadState::hp_params) == before);
    }
}

TEST_CASE("The scheduled learning rate is the one that a step uses and reports") {
    zero::Config config;
    config.optimizer.learning_rate = 0.1;
    config.scheduler.type = zero::Scheduler::warmup_lr;
    config.scheduler.warmup_type = zero::WarmupType::linear;
    config.scheduler.warmup_max_lr = 0.1;
    config.scheduler.warmup_num_steps = 10;
    zero::Engine engine(config, make_cpu_accelerator(), small_groups());
    const std::vector<float> gradients{1.0F, 1.0F, 1.0F};
    for (std::int64_t applied = 0; applied < 15; ++applied) {
        const auto before = floats_of(engine, OffloadState::hp_params);
        engine.backward(gradients_of(gradients));
        const auto result = engine.step();
        REQUIRE(result.learning_rate == zero::learning_rate(config.scheduler, 0.1, 0.1, applied));
        REQUIRE((floats_of(engine, OffloadState::hp_params) != before) == (result.learning_rate != 0.0));
    }
}

TEST_CASE("A regression converges in bf16 and in fp16, on the device and on the host") {
    const auto format = GENERATE(zero::LowPrecision::bf16, zero::LowPrecision::fp16);
    const auto device = GENERATE(zero::OffloadDevice::none, zero::OffloadDevice::cpu);
    zero::Config config;
    config.low_precision = format;
    config.fp16.initial_scale_power = 24;  // overflows at first
    config.optimizer.learning_rate = 0.01;
    config.zero_optimization.offload_optimizer = {.device = device, .pin_memory = true};
    zero::Engine engine(config, make_cpu_accelerator(), model.groups());
    double first = 0.0;
    const double last = train(engine, 800, first);
    CAPTURE(first, last, engine.skipped_steps());
    REQUIRE(last < first / 100.0);
    REQUIRE((engine.skipped_steps() > 0) == (format == zero::LowPrecision::fp16));
    engine.destroy();
}

TEST_CASE(
    "Two hundred steps with an offload of a random subset every tenth give the losses of a run without") {
    zero::Config config;
    config.optimizer.learning_rate = 0.01;
    config.gradient_accumulation_steps = 2;
    zero::Engine plain(config, make_cpu_accelerator(), model.groups(), {.name = "plain"});
    zero::Engine moved(config, make_cpu_accelerator(), model.groups(), {.name = "moved"});
    std::uint32_t random = 12'345;
    for (std::size_t i = 0; i < 400; ++i) {
        REQUIRE(moved.backward(model.micro_batch(i)) == plain.backward(model.micro_batch(i)));
        if (i % 20 == 0) {
            random = random * 1'664'525U + 1'013'904'223U;
            zero::OffloadStates subset;
            for (const auto state : zero::all_offload_states) {
                if (((random >> (16U + static_cast<unsigned>(state))) & 1U) != 0) subset.insert(state);
            }
            const bool non_blocking = (random >> 24U) % 2 == 0;
            moved.offload_states(subset, (random >> 25U) % 2 == 0 ? Pinning::pinned : Pinning::pageable,
                                 non_blocking);
            moved.reload_states(non_blocking);
        }
        moved.step();
        plain.step();
    }
    REQUIRE(contents_of(moved) == contents_of(plain));
}
