// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/zero/low_precision.hpp>

#include <pinwarden/core/error.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace zero = pinwarden::zero;

namespace {

/// The format's parameters, from its definition.
template <class T>
struct Format;
template <>
struct Format<zero::Bf16> {
    static constexpr int fraction_bits = 7;
    static constexpr int bias = 127;
    static constexpr unsigned exponent_mask = 0xFF;
};
template <>
struct Format<zero::Fp16> {
    static constexpr int fraction_bits = 10;
    static constexpr int bias = 15;
    static constexpr unsigned exponent_mask = 0x1F;
};

template <class T>
unsigned exponent_of(T value) {
    return (unsigned{value.bits} >> Format<T>::fraction_bits) & Format<T>::exponent_mask;
}

template <class T>
unsigned fraction_of(T value) {
    return value.bits & ((1U << Format<T>::fraction_bits) - 1U);
}

template <class T>
bool is_nan(T value) {
    return exponent_of(value) == Format<T>::exponent_mask && fraction_of(value) != 0;
}

/// What the bits mean, computed by arithmetic rather than by moving bits.
template <class T>
double meaning(T value) {
    const double sign = (value.bits & 0x8000U) != 0 ? -1.0 : 1.0;
    const unsigned exponent = exponent_of(value);
    if (exponent == Format<T>::exponent_mask) return sign * std::numeric_limits<double>::infinity();
    const double one = std::ldexp(1.0, Format<T>::fraction_bits);
    const double significand = fraction_of(value) + (exponent == 0 ? 0.0 : one);
    const int power =
        static_cast<int>(exponent == 0 ? 1 : exponent) - Format<T>::bias - Format<T>::fraction_bits;
    return sign * std::ldexp(significand, power);
}

template <class T>
T from_bits(unsigned bits) {
    return T{static_cast<std::uint16_t>(bits)};
}

/// The largest finite number; all smaller bit patterns are smaller numbers.
template <class T>
unsigned largest_finite() {
    return (Format<T>::exponent_mask << Format<T>::fraction_bits) - 1U;
}

/// Rounds a positive number by searching all positive numbers of the format.
template <class T>
unsigned nearest_by_search(double value) {
    unsigned low = 0;
    unsigned high = largest_finite<T>() + 1U;
    while (high - low > 1U) {
        const unsigned middle = (low + high) / 2U;
        (meaning(from_bits<T>(middle)) <= value ? low : high) = middle;
    }
    // Infinity takes the place that the next power of two would have.
    const double below = meaning(from_bits<T>(low));
    const double above = low == largest_finite<T>()
                             ? std::ldexp(1.0, static_cast<int>(Format<T>::exponent_mask) - Format<T>::bias)
                             : meaning(from_bits<T>(high));
    if (value - below == above - value) return (low & 1U) == 0 ? low : high;
    return value - below < above - value ? low : high;
}

}  // namespace

TEMPLATE_TEST_CASE("every one of the 65,536 values widens exactly", "[zero]", zero::Bf16, zero::Fp16) {
    unsigned wrong = 0;
    for (unsigned bits = 0; bits <= 0xFFFFU; ++bits) {
        const auto value = from_bits<TestType>(bits);
        const float widened = value.to_float();
        const bool sign_kept = std::signbit(widened) == ((bits & 0x8000U) != 0);
        if (is_nan(value))
            wrong += !(std::isnan(widened) && sign_kept);
        else
            wrong += !(static_cast<double>(widened) == meaning(value) && sign_kept);
    }
    CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("every one of the 65,536 values survives widening and narrowing, NaNs becoming quiet",
                   "[zero]", zero::Bf16, zero::Fp16) {
    const auto quiet_bit = 1U << (Format<TestType>::fraction_bits - 1);
    unsigned wrong = 0;
    for (unsigned bits = 0; bits <= 0xFFFFU; ++bits) {
        const auto value = from_bits<TestType>(bits);
        const unsigned expected = is_nan(value) ? bits | quiet_bit : bits;
        wrong += TestType::from_float(value.to_float()).bits != expected;
    }
    CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("between any two neighbours numbers round to the nearer, and ties to the even one",
                   "[zero]", zero::Bf16, zero::Fp16) {
    const float infinity = std::numeric_limits<float>::infinity();
    unsigned wrong = 0;
    for (unsigned low = 0; low < largest_finite<TestType>(); ++low) {
        const unsigned high = low + 1U;
        const auto middle = static_cast<float>(
            (meaning(from_bits<TestType>(low)) + meaning(from_bits<TestType>(high))) / 2.0);
        const unsigned even = (low & 1U) == 0 ? low : high;
        wrong += TestType::from_float(middle).bits != even;
        wrong += TestType::from_float(-middle).bits != (even | 0x8000U);
        wrong += TestType::from_float(std::nextafter(middle, 0.0F)).bits != low;
        wrong += TestType::from_float(std::nextafter(middle, infinity)).bits != high;
        wrong += TestType::from_float(-std::nextafter(middle, infinity)).bits != (high | 0x8000U);
    }
    CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("numbers beyond the largest one round to infinity from half a unit on", "[zero]",
                   zero::Bf16, zero::Fp16) {
    const unsigned largest = largest_finite<TestType>();
    const double top = meaning(from_bits<TestType>(largest));
    const double unit = top - meaning(from_bits<TestType>(largest - 1U));
    const auto half = static_cast<float>(top + unit / 2.0);
    CHECK(TestType::from_float(half).bits == largest + 1U);
    CHECK(TestType::from_float(std::nextafter(half, 0.0F)).bits == largest);
    CHECK(TestType::from_float(std::numeric_limits<float>::max()).bits == largest + 1U);
    CHECK(TestType::from_float(-std::numeric_limits<float>::infinity()).bits == ((largest + 1U) | 0x8000U));
}

TEMPLATE_TEST_CASE("random floats of all magnitudes round as a search over all values does", "[zero]",
                   zero::Bf16, zero::Fp16) {
    std::mt19937 random{7};  // NOLINT: the same numbers in every run
    unsigned wrong = 0;
    for (int i = 0; i < 200'000; ++i) {
        const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
        if (std::isnan(value)) {
            wrong += !is_nan(TestType::from_float(value));
            continue;
        }
        const unsigned sign = std::signbit(value) ? 0x8000U : 0U;
        const unsigned expected = std::isinf(value)
                                      ? largest_finite<TestType>() + 1U
                                      : nearest_by_search<TestType>(std::abs(static_cast<double>(value)));
        wrong += TestType::from_float(value).bits != (expected | sign);
    }
    CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("a NaN whose payload lies in the lower bits alone stays a NaN", "[zero]", zero::Bf16,
                   zero::Fp16) {
    for (const std::uint32_t word : {0x7F80'0001U, 0xFF80'0001U, 0x7FFF'FFFFU, 0x7FC0'0000U}) {
        const auto narrowed = TestType::from_float(std::bit_cast<float>(word));
        CHECK(is_nan(narrowed));
        CHECK((narrowed.bits & 0x8000U) == (word >> 16U & 0x8000U));
    }
}

TEMPLATE_TEST_CASE("spans are converted like single numbers, whatever their length", "[zero]", zero::Bf16,
                   zero::Fp16) {
    std::mt19937 random{11};
    for (std::size_t length = 0; length < 70; ++length) {
        std::vector<float> source(length);
        for (auto& value : source) value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
        std::vector<TestType> narrowed(length);
        zero::narrow(source, narrowed);
        std::vector<float> widened(length);
        zero::widen(gsl::span<const TestType>{narrowed}, widened);
        for (std::size_t i = 0; i < length; ++i) {
            REQUIRE(narrowed[i] == TestType::from_float(source[i]));
            REQUIRE(std::bit_cast<std::uint32_t>(widened[i]) ==
                    std::bit_cast<std::uint32_t>(narrowed[i].to_float()));
        }
    }
}

TEMPLATE_TEST_CASE("converting between spans of different lengths is refused", "[zero]", zero::Bf16,
                   zero::Fp16) {
    std::vector<float> three(3);
    std::vector<TestType> two(2);
    CHECK_THROWS_AS(zero::narrow(three, two), pinwarden::SizeError);
    CHECK_THROWS_AS(zero::widen(gsl::span<const TestType>{two}, three), pinwarden::SizeError);
}

TEST_CASE("conversions can be computed by the compiler", "[zero]") {
    STATIC_CHECK(zero::Bf16::from_float(1.0F).bits == 0x3F80U);
    STATIC_CHECK(zero::Fp16::from_float(1.0F).bits == 0x3C00U);
    STATIC_CHECK(zero::Fp16::from_float(std::numeric_limits<float>::quiet_NaN()).bits == 0x7E00U);
    STATIC_CHECK(zero::Fp16{0x0001U}.to_float() == 0x1p-24F);
    STATIC_CHECK(zero::name(zero::LowPrecision::fp16) == "fp16");
}
