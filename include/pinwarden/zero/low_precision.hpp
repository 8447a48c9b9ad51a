// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The two 16-bit floating-point formats that lp params and lp grads are kept in.
///
/// Each is a plain word of 16 bits with exact conversions: widening is exact, narrowing rounds to nearest,
/// ties to even, as IEEE 754 and the devices do. Infinities stay infinities; a value too large for the format
/// becomes one; NaN stays NaN, comes out quiet and keeps its sign and the upper bits of its payload. fp16
/// subnormals are exact too.
///
///     std::vector<zero::Bf16> lp(hp.size());
///     zero::narrow(hp, lp);
///
/// Cost: the functions on spans are loops without branches, which compilers turn into vector code.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <gsl/span>

#include <pinwarden/core/export.hpp>

namespace pinwarden::zero {

/// Which of the formats an engine uses.
enum class LowPrecision : std::uint8_t {
    bf16,  ///< 8 bits of exponent, 7 of fraction: the range of `float`
    fp16,  ///< 5 bits of exponent, 10 of fraction: needs a loss scale
};

/// The name as a configuration writes it: `bf16` or `fp16`.
[[nodiscard]] constexpr std::string_view name(LowPrecision format) noexcept {
    return format == LowPrecision::bf16 ? "bf16" : "fp16";
}

/// A bfloat16 number.
struct Bf16 {
    std::uint16_t bits = 0;

    /// The nearest number to `value`.
    [[nodiscard]] static constexpr Bf16 from_float(float value) noexcept;
    /// The same number as a `float`.
    [[nodiscard]] constexpr float to_float() const noexcept;

    /// Compares the bits: two NaNs of the same bits are equal, +0 and -0 are not.
    [[nodiscard]] friend constexpr bool operator==(Bf16, Bf16) noexcept = default;
};

/// An IEEE 754 binary16 number.
struct Fp16 {
    std::uint16_t bits = 0;

    /// The nearest number to `value`.
    [[nodiscard]] static constexpr Fp16 from_float(float value) noexcept;
    /// The same number as a `float`.
    [[nodiscard]] constexpr float to_float() const noexcept;

    /// Compares the bits: two NaNs of the same bits are equal, +0 and -0 are not.
    [[nodiscard]] friend constexpr bool operator==(Fp16, Fp16) noexcept = default;
};

/// Converts each element of `from` to `float`.
/// @throws SizeError if the spans differ in length.
PINWARDEN_API void widen(gsl::span<const Bf16> from, gsl::span<float> to);
/// @copydoc widen(gsl::span<const Bf16>, gsl::span<float>)
PINWARDEN_API void widen(gsl::span<const Fp16> from, gsl::span<float> to);

/// Rounds each element of `from` to the nearest number of the format.
/// @throws SizeError if the spans differ in length.
PINWARDEN_API void narrow(gsl::span<const float> from, gsl::span<Bf16> to);
/// @copydoc narrow(gsl::span<const float>, gsl::span<Bf16>)
PINWARDEN_API void narrow(gsl::span<const float> from, gsl::span<Fp16> to);

constexpr Bf16 Bf16::from_float(float value) noexcept {
    const auto word = std::bit_cast<std::uint32_t>(value);
    // The bias is half a unit in the last place less one, plus the last bit kept: a tie then carries exactly
    // if that bit is odd. A carry out of the fraction gives the next power of two, and finally infinity.
    const std::uint32_t rounded = (word + 0x7FFFU + ((word >> 16U) & 1U)) >> 16U;
    const std::uint32_t quiet_nan = (word >> 16U) | 0x0040U;
    const bool is_nan = (word & 0x7FFF'FFFFU) > 0x7F80'0000U;
    return Bf16{static_cast<std::uint16_t>(is_nan ? quiet_nan : rounded)};
}

constexpr float Bf16::to_float() const noexcept {
    const std::uint32_t word = std::uint32_t{bits} << 16U;
    const bool is_nan = (word & 0x7FFF'FFFFU) > 0x7F80'0000U;
    return std::bit_cast<float>(is_nan ? word | 0x0040'0000U : word);
}

constexpr Fp16 Fp16::from_float(float value) noexcept {
    const auto word = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = (word >> 16U) & 0x8000U;
    const std::uint32_t magnitude = word & 0x7FFF'FFFFU;
    // 112 is the difference of the two exponent biases. The same carry as in Bf16 rounds; what it carries
    // past the largest number is infinity.
    const std::uint32_t rebiased = magnitude - (112U << 23U);
    const std::uint32_t normal = (rebiased + 0x0FFFU + ((rebiased >> 13U) & 1U)) >> 13U;
    // fp16's subnormals are multiples of the unit in the last place of 0.5: adding 0.5 rounds to them.
    constexpr std::uint32_t smallest_normal = 113U << 23U;
    const float small = std::bit_cast<float>(magnitude < smallest_normal ? magnitude : 0U);
    const float shifted = small + 0.5F;
    const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(shifted) - 0x3F00'0000U;
    const std::uint32_t quiet_nan = 0x7E00U | ((magnitude >> 13U) & 0x03FFU);
    const std::uint32_t finite = magnitude < smallest_normal ? subnormal : normal;
    const std::uint32_t special = magnitude > 0x7F80'0000U ? quiet_nan : 0x7C00U;
    return Fp16{static_cast<std::uint16_t>(sign | (magnitude < (143U << 23U) ? finite : special))};
}

constexpr float Fp16::to_float() const noexcept {
    const std::uint32_t sign = (std::uint32_t{bits} & 0x8000U) << 16U;
    const std::uint32_t magnitude = bits & 0x7FFFU;
    const std::uint32_t normal = (magnitude << 13U) + (112U << 23U);
    const std::uint32_t quiet = magnitude > 0x7C00U ? 0x0040'0000U : 0U;
    const std::uint32_t special = (magnitude << 13U) | 0x7F80'0000U | quiet;
    // Subnormals are whole multiples of 2^-24, few enough of them for `float` to hold each exactly.
    const float multiple = static_cast<float>(static_cast<std::int32_t>(magnitude)) * 0x1p-24F;
    const auto subnormal = std::bit_cast<std::uint32_t>(multiple);
    const std::uint32_t finite = magnitude < 0x0400U ? subnormal : normal;
    return std::bit_cast<float>(sign | (magnitude < 0x7C00U ? finite : special));
}

}  // namespace pinwarden::zero
