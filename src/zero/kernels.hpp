// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The arithmetic of an engine on plain memory, the same wherever that memory is: none of it allocates,
/// throws or knows who calls it, so host and device compute the same bits.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <gsl/span>

#include <pinwarden/zero/low_precision.hpp>
#include <pinwarden/zero/sub_group_stepper.hpp>

namespace pinwarden::zero {

/// The size of a low-precision number.
inline constexpr std::size_t lp_bytes = sizeof(std::uint16_t);

/// Calls `function` with a value of the format's type, so that loops are compiled once for each.
template <typename Function>
void with_format(LowPrecision format, Function function) {
    if (format == LowPrecision::bf16) {
        function(Bf16{});
    } else {
        function(Fp16{});
    }
}

/// Rounds `values * factor` to low precision.
/// @pre `destination` holds as many elements as `values`
void narrow_scaled(LowPrecision format, gsl::span<const float> values, float factor,
                   gsl::span<std::byte> destination) noexcept;

/// Widens low-precision numbers. @pre as above
void widen_all(LowPrecision format, gsl::span<const std::byte> source, gsl::span<float> destination);

/// Adds low-precision numbers in fp32 and rounds each sum.
/// @pre both hold the same number of elements
void accumulate(LowPrecision format, gsl::span<std::byte> sums, gsl::span<const std::byte> values) noexcept;

/// The sum of the squares of all parts' elements; not finite if one of them is not.
[[nodiscard]] double sum_of_squares(LowPrecision format,
                                    gsl::span<const gsl::span<const std::byte>> gradients) noexcept;

/// Steps one sub-group with the given gradients, which may have been copied elsewhere.
/// @pre the arrays of `update` and `gradients` have the same number of elements
void step_sub_group(const SubGroupStep& step, const SubGroupUpdate& update,
                    gsl::span<const std::byte> gradients, float gradient_factor);

/// Steps all sub-groups with the gradients that they name.
void step_all(const SubGroupStep& step, float gradient_factor);

}  // namespace pinwarden::zero
