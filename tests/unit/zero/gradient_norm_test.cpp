// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/zero/gradient_norm.hpp>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace zero = pinwarden::zero;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

template <class T>
T make(float value) {
    if constexpr (std::is_same_v<T, float>)
        return value;
    else
        return T::from_float(value);
}

std::vector<float> random_gradients(std::size_t count) {
    std::mt19937 random{5};
    std::normal_distribution<float> distribution;
    std::vector<float> gradients(count);
    for (auto& gradient : gradients) gradient = distribution(random);
    return gradients;
}

double norm_of(const std::vector<float>& gradients) {
    zero::GradientNorm norm;
    norm.add(gradients);
    return norm.value();
}

}  // namespace

TEMPLATE_TEST_CASE("one infinity or NaN at any place is an overflow", "[zero]", float, zero::Bf16,
                   zero::Fp16) {
    for (std::size_t length = 1; length < 40; ++length) {
        std::vector<TestType> gradients(length, make<TestType>(60000.0F));
        const gsl::span<const TestType> view{gradients};
        REQUIRE_FALSE(zero::has_overflow(view));
        for (std::size_t place = 0; place < length; ++place) {
            for (const float special : {infinity, -infinity, not_a_number}) {
                gradients[place] = make<TestType>(special);
                REQUIRE(zero::has_overflow(view));
            }
            gradients[place] = make<TestType>(0.0F);
        }
    }
    CHECK_FALSE(zero::has_overflow(gsl::span<const TestType>{}));
}

TEST_CASE("the largest and the smallest finite numbers are no overflow", "[zero]") {
    const std::vector<float> gradients{std::numeric_limits<float>::max(),
                                       std::numeric_limits<float>::lowest(),
                                       std::numeric_limits<float>::denorm_min()};
    CHECK_FALSE(zero::has_overflow(gradients));
}

TEMPLATE_TEST_CASE("the norm is the root of the sum of squares", "[zero]", float, zero::Bf16, zero::Fp16) {
    const std::vector<TestType> gradients{make<TestType>(3.0F), make<TestType>(-4.0F), make<TestType>(12.0F)};
    zero::GradientNorm norm;
    norm.add(gsl::span<const TestType>{gradients});
    CHECK(norm.value() == 13.0);
}

TEST_CASE("the norm of nothing is zero", "[zero]") {
    zero::GradientNorm norm;
    norm.add(gsl::span<const float>{});
    CHECK(norm.value() == 0.0);
}

TEST_CASE("the norm agrees with a sum in long double", "[zero]") {
    const auto gradients = random_gradients(100'003);
    long double sum = 0.0L;
    for (const float gradient : gradients) sum += static_cast<long double>(gradient) * gradient;
    CHECK(norm_of(gradients) == Catch::Approx(static_cast<double>(std::sqrt(sum))).epsilon(1e-13));
}

TEST_CASE("the norm has the same bits however the gradients are cut", "[zero]") {
    const auto gradients = random_gradients(1000);
    const double whole = norm_of(gradients);
    std::mt19937 random{6};
    for (int round = 0; round < 50; ++round) {
        std::uniform_int_distribution<std::size_t> length{0, 60};
        zero::GradientNorm norm;
        for (std::size_t begin = 0; begin < gradients.size();) {
            const std::size_t part = std::min(length(random), gradients.size() - begin);
            norm.add(gsl::span{gradients}.subspan(begin, part));
            begin += part;
        }
        REQUIRE(norm.value() == whole);
    }
}

TEST_CASE("the norm is finite exactly if all gradients are", "[zero]") {
    CHECK(std::isfinite(norm_of(std::vector<float>(100, std::numeric_limits<float>::max()))));
    CHECK_FALSE(std::isfinite(norm_of({1.0F, infinity})));
    CHECK_FALSE(std::isfinite(norm_of({1.0F, not_a_number})));
}

TEST_CASE("without clipping gradients are only unscaled", "[zero]") {
    CHECK(zero::combined_scale(1e9, 1024.0, 0.0) == 1024.0);
}

TEST_CASE("gradients below the largest norm are only unscaled", "[zero]") {
    CHECK(zero::combined_scale(512.0, 1024.0, 1.0) == 1024.0);
}

TEST_CASE("gradients above the largest norm are scaled down to it, by DeepSpeed's formula", "[zero]") {
    CHECK(zero::combined_scale(4096.0, 1024.0, 1.0) == (4.0 + 1e-6) / 1.0 * 1024.0);
    CHECK(zero::combined_scale(6.0, 1.0, 2.0) == (6.0 + 1e-6) / 2.0);
    const double clipped = 4096.0 / zero::combined_scale(4096.0, 1024.0, 1.0);
    CHECK(clipped <= 1.0);
    CHECK(clipped == Catch::Approx(1.0).epsilon(1e-6));
}
