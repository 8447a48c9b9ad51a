// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/zero/adam.hpp>

#include <pinwarden/core/error.hpp>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace zero = pinwarden::zero;

namespace {

/// The papers' algorithms word for word, in double: bias-corrected moments, decay as a factor.
struct Reference {
    explicit Reference(std::size_t count) : parameters(count), first(count), second(count) {}

    void step(int t, const zero::AdamOptions& o, const std::vector<float>& gradients, double scale) {
        for (std::size_t i = 0; i < parameters.size(); ++i) {
            double& p = parameters[i];
            double g = static_cast<double>(gradients[i]) * scale;
            if (o.adam_w_mode)
                p *= 1.0 - o.learning_rate * o.weight_decay;
            else
                g += o.weight_decay * p;
            first[i] = o.beta1 * first[i] + (1.0 - o.beta1) * g;
            second[i] = o.beta2 * second[i] + (1.0 - o.beta2) * g * g;
            double m_hat = first[i];
            double v_hat = second[i];
            if (o.bias_correction) {
                m_hat /= 1.0 - std::pow(o.beta1, t);
                v_hat /= 1.0 - std::pow(o.beta2, t);
            }
            p -= o.learning_rate * m_hat / (std::sqrt(v_hat) + o.eps);
        }
    }

    std::vector<double> parameters;
    std::vector<double> first;
    std::vector<double> second;
};

struct Arrays {
    explicit Arrays(std::size_t count) : hp(count), exp_avg(count), exp_avg_sq(count) {}

    zero::AdamState state() { return {hp, exp_avg, exp_avg_sq}; }
    zero::AdamState part(std::size_t begin, std::size_t count) {
        return {gsl::span{hp}.subspan(begin, count), gsl::span{exp_avg}.subspan(begin, count),
                gsl::span{exp_avg_sq}.subspan(begin, count)};
    }
    bool operator==(const Arrays&) const = default;

    std::vector<float> hp;
    std::vector<float> exp_avg;
    std::vector<float> exp_avg_sq;
};

std::vector<float> random_numbers(std::mt19937& random, std::size_t count, double deviation) {
    std::normal_distribution<float> distribution{0.0F, static_cast<float>(deviation)};
    std::vector<float> numbers(count);
    for (auto& number : numbers) number = distribution(random);
    return numbers;
}

double largest_error(const std::vector<float>& found, const std::vector<double>& expected) {
    double largest = 0.0;
    for (std::size_t i = 0; i < found.size(); ++i) {
        const double error = std::abs(static_cast<double>(found[i]) - expected[i]);
        if (!(error <= std::numeric_limits<double>::max())) return std::numeric_limits<double>::infinity();
        largest = std::max(largest, error);
    }
    return largest;
}

}  // namespace

TEST_CASE("a thousand steps agree with the papers in double precision, with all options", "[zero]") {
    const bool adam_w = GENERATE(true, false);
    const bool bias_correction = GENERATE(true, false);
    const double weight_decay = GENERATE(0.0, 0.1);
    const double scale = GENERATE(1.0, 1.0 / 1024.0);
    const auto [beta1, beta2, eps] = GENERATE(table<double, double, double>(
        {{0.9, 0.999, 1e-8}, {0.8, 0.95, 1e-6}, {0.0, 0.0, 1e-3}, {0.9, 0.9, 1.0}}));
    const zero::AdamOptions options{.learning_rate = 1e-3,
                                    .beta1 = beta1,
                                    .beta2 = beta2,
                                    .eps = eps,
                                    .weight_decay = weight_decay,
                                    .adam_w_mode = adam_w,
                                    .bias_correction = bias_correction};
    constexpr std::size_t count = 64;
    std::mt19937 random{2015};
    Arrays arrays{count};
    arrays.hp = random_numbers(random, count, 1.0);
    Reference reference{count};
    std::copy(arrays.hp.begin(), arrays.hp.end(), reference.parameters.begin());
    for (int step = 1; step <= 1000; ++step) {
        const auto gradients = random_numbers(random, count, 1.0 / scale);
        zero::adam_update(step, options, arrays.state(), gradients, static_cast<float>(scale));
        reference.step(step, options, gradients, scale);
    }
    // A thousand steps of at most 1e-3, each rounded to 24 bits, and parameters of about 1.
    CHECK(largest_error(arrays.hp, reference.parameters) < 1e-5);
    CHECK(largest_error(arrays.exp_avg, reference.first) < 1e-5);
    CHECK(largest_error(arrays.exp_avg_sq, reference.second) < 1e-4);
}

TEST_CASE("the bits of a step do not depend on how the arrays are cut", "[zero]") {
    constexpr std::size_t count = 1000;
    std::mt19937 random{1};
    Arrays whole{count};
    whole.hp = random_numbers(random, count, 1.0);
    Arrays cut = whole;
    const zero::AdamOptions options{.weight_decay = 0.01};
    for (int step = 1; step <= 20; ++step) {
        const auto gradients = random_numbers(random, count, 0.1);
        zero::adam_update(step, options, whole.state(), gradients, 0.3F);
        std::uniform_int_distribution<std::size_t> length{0, 17};
        for (std::size_t begin = 0; begin < count;) {
            const std::size_t part = std::min(length(random), count - begin);
            zero::adam_update(step, options, cut.part(begin, part), gsl::span{gradients}.subspan(begin, part),
                              0.3F);
            begin += part;
        }
        REQUIRE(cut == whole);
    }
}

TEST_CASE("16-bit gradients give the same bits as the same gradients in fp32", "[zero]") {
    constexpr std::size_t count = 333;
    std::mt19937 random{3};
    const auto gradients = random_numbers(random, count, 0.1);
    const auto check = [&](auto low) {
        std::vector<decltype(low)> narrowed(count);
        zero::narrow(gradients, narrowed);
        std::vector<float> widened(count);
        zero::widen(gsl::span<const decltype(low)>{narrowed}, widened);
        Arrays from_low{count};
        Arrays from_float{count};
        zero::adam_update(1, {}, from_low.state(), narrowed, 0.5F);
        zero::adam_update(1, {}, from_float.state(), widened, 0.5F);
        CHECK(from_low == from_float);
    };
    check(zero::Bf16{});
    check(zero::Fp16{});
}

TEST_CASE("the first step moves each parameter by the learning rate against its gradient", "[zero]") {
    Arrays arrays{3};
    arrays.hp = {1.0F, 1.0F, 1.0F};
    zero::adam_update(1, {.learning_rate = 0.25}, arrays.state(), std::vector<float>{2.0F, -3.0F, 0.0F});
    CHECK(arrays.hp[0] == Catch::Approx(0.75));
    CHECK(arrays.hp[1] == Catch::Approx(1.25));
    CHECK(arrays.hp[2] == 1.0F);
}

TEST_CASE("without gradients AdamW shrinks the parameters alone and Adam fills the moments", "[zero]") {
    zero::AdamOptions options{.learning_rate = 0.5, .weight_decay = 0.5};
    Arrays adam_w{1};
    adam_w.hp = {8.0F};
    zero::adam_update(1, options, adam_w.state(), std::vector<float>{0.0F});
    CHECK(adam_w.hp[0] == 6.0F);
    CHECK(adam_w.exp_avg[0] == 0.0F);

    options.adam_w_mode = false;
    Arrays adam{1};
    adam.hp = {8.0F};
    zero::adam_update(1, options, adam.state(), std::vector<float>{0.0F});
    CHECK(adam.exp_avg[0] == Catch::Approx(0.1 * 4.0));
    CHECK(adam.hp[0] == Catch::Approx(7.5));
}

TEST_CASE("a step of no elements is a step", "[zero]") {
    CHECK_NOTHROW(zero::adam_update(1, {}, {}, gsl::span<const float>{}));
}

TEST_CASE("a wrong step number or unequal lengths are refused and nothing is changed", "[zero]") {
    Arrays arrays{4};
    const Arrays before = arrays;
    CHECK_THROWS_AS(zero::adam_update(0, {}, arrays.state(), std::vector<float>(4)), pinwarden::SizeError);
    CHECK_THROWS_AS(zero::adam_update(1, {}, arrays.state(), std::vector<float>(3)), pinwarden::SizeError);
    zero::AdamState short_moment = arrays.state();
    short_moment.exp_avg_sq = short_moment.exp_avg_sq.first(3);
    CHECK_THROWS_AS(zero::adam_update(1, {}, short_moment, std::vector<float>(4)), pinwarden::SizeError);
    CHECK(arrays == before);
}
