// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/zero/learning_rate.hpp>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cmath>

namespace zero = pinwarden::zero;
using Catch::Approx;

TEST_CASE("without a scheduler a group keeps its own rate", "[zero]") {
    CHECK(zero::learning_rate({}, 0.5, 0.1, 0) == 0.5);
    CHECK(zero::learning_rate({}, 0.5, 0.1, 1'000'000) == 0.5);
}

TEST_CASE("WarmupLR rises linearly from the minimum to the maximum and stays there", "[zero]") {
    const zero::SchedulerOptions options{.type = zero::Scheduler::warmup_lr,
                                         .warmup_min_lr = 0.1,
                                         .warmup_max_lr = 0.5,
                                         .warmup_num_steps = 4,
                                         .warmup_type = zero::WarmupType::linear};
    const auto rate = [&](std::int64_t applied) { return zero::learning_rate(options, 7.0, 9.0, applied); };
    CHECK(rate(0) == Approx(0.1));
    CHECK(rate(1) == Approx(0.1));
    CHECK(rate(2) == Approx(0.2));
    CHECK(rate(3) == Approx(0.3));
    CHECK(rate(4) == Approx(0.4));
    CHECK(rate(5) == Approx(0.5));
    CHECK(rate(1000) == Approx(0.5));
}

TEST_CASE("WarmupLR rises with the logarithm unless told otherwise", "[zero]") {
    const zero::SchedulerOptions options{.type = zero::Scheduler::warmup_lr, .warmup_num_steps = 100};
    // Without a maximum of its own it takes the optimizer's rate.
    CHECK(zero::learning_rate(options, 7.0, 0.25, 10) == Approx(0.25 * std::log10(10.0) / 2.0));
    CHECK(zero::learning_rate(options, 7.0, 0.25, 50) == Approx(0.25 * std::log10(50.0) / 2.0));
    CHECK(zero::learning_rate(options, 7.0, 0.25, 101) == 0.25);
}

TEST_CASE("one warm-up step counts as two, so that the logarithm exists", "[zero]") {
    const zero::SchedulerOptions options{.type = zero::Scheduler::warmup_lr, .warmup_num_steps = 1};
    CHECK(zero::learning_rate(options, 7.0, 1.0, 1) == 0.0);
    CHECK(zero::learning_rate(options, 7.0, 1.0, 2) == Approx(1.0));
    CHECK(zero::learning_rate(options, 7.0, 1.0, 3) == 1.0);
}

TEST_CASE("WarmupDecayLR falls linearly to zero at the last step and stays there", "[zero]") {
    const zero::SchedulerOptions options{.type = zero::Scheduler::warmup_decay_lr,
                                         .warmup_max_lr = 0.8,
                                         .warmup_num_steps = 2,
                                         .warmup_type = zero::WarmupType::linear,
                                         .total_num_steps = 10};
    const auto rate = [&](std::int64_t applied) { return zero::learning_rate(options, 7.0, 9.0, applied); };
    CHECK(rate(2) == Approx(0.4));
    CHECK(rate(3) == Approx(0.8));
    CHECK(rate(4) == Approx(0.7));
    CHECK(rate(10) == Approx(0.1));
    CHECK(rate(11) == 0.0);
    CHECK(rate(1000) == 0.0);
}

TEST_CASE("WarmupDecayLR falls to its minimum where that is not zero", "[zero]") {
    const zero::SchedulerOptions options{.type = zero::Scheduler::warmup_decay_lr,
                                         .warmup_min_lr = 0.2,
                                         .warmup_max_lr = 0.8,
                                         .warmup_num_steps = 2,
                                         .total_num_steps = 4};
    CHECK(zero::learning_rate(options, 7.0, 9.0, 100) == Approx(0.2));
}

TEST_CASE("WarmupDecayLR without a decay phase ends after the warm-up", "[zero]") {
    const zero::SchedulerOptions options{.type = zero::Scheduler::warmup_decay_lr,
                                         .warmup_max_lr = 0.8,
                                         .warmup_num_steps = 5,
                                         .total_num_steps = 5};
    CHECK(zero::learning_rate(options, 7.0, 9.0, 6) == 0.0);
}
