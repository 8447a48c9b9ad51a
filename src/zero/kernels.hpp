// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The arithmetic of an engine on plain memory, the same wherever that memory is: none of it allocates,
/// throws or knows who calls it, so host and device compute the same bits.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <gsl/span>

#include <pinwarden/zero/adam.hpp>
#include <pinwarden/zero/low_precision.hpp>

#include "zero/gradient_buckets.hpp"

namespace pinwarden::zero {

/// The size of a low-precision number.
inline constexpr std::size_t lp_bytes = sizeof(std::uint16_t);

/// Rounds `values * factor` to low precision.
/// @pre `destination` holds as many elements as `values`
void narrow_scaled(LowPrecision format, gsl::span<const float> values, float factor,
                   gsl::span<std::byte> destination) noexcept;

/// Widens low-precision numbers. @pre as above
void widen_all(LowPrecision format, gsl::span<const std::byte> source, gsl::span<float> destination);

/// Adds low-precision numbers in fp32 and rounds each sum.
/// @pre both hold the same number of elements
void accumulate(LowPrecision format, gsl::span<std::byte> sums, gsl::span<const std::byte> values) noexcept;

/// What one micro-batch's gradients are to be added to, and how.
struct Accumulation {
    LowPrecision format = LowPrecision::bf16;
    bool first = true;            ///< the first micro-batch of a step replaces what is there
    bool through_bucket = false;  ///< stage 2: each bucket is reduced before it is accumulated
    bool reduce_sums =
        false;  ///< stage 1, last micro-batch of a step: the sums are reduced, bucket by bucket
    gsl::span<const std::byte> gradients{};        ///< the micro-batch's, of all groups one after the other
    gsl::span<std::byte> bucket{};                 ///< contiguous_grad_buffer
    std::vector<gsl::span<std::byte>> lp_grads{};  ///< per group, in the same order
    std::vector<GradientBucket> buckets{};
};

/// Accumulates. Reducing over the ranks of one process is the mean of one value: that value.
void accumulate_micro_batch(const Accumulation& accumulation) noexcept;

/// The L2 norm of all groups' gradients; not finite if one of them is not.
[[nodiscard]] double gradient_norm(LowPrecision format,
                                   gsl::span<const gsl::span<const std::byte>> lp_grads) noexcept;

/// One group's part of an optimizer step.
struct GroupUpdate {
    AdamOptions options{};
    AdamState state{};
    gsl::span<const std::byte> lp_grads{};
    gsl::span<std::byte> lp_params{};  ///< receives the new master parameters in low precision
};

/// A whole optimizer step.
struct OptimizerStep {
    LowPrecision format = LowPrecision::bf16;
    std::int64_t number = 1;         ///< counts the steps applied, this one included
    float gradient_factor = 1.0F;    ///< unscales and clips
    std::size_t sub_group_size = 1;  ///< elements updated at a time, so that a piece stays in the caches
    std::vector<GroupUpdate> groups{};
};

/// Takes the step.
void run_optimizer_step(const OptimizerStep& step);

}  // namespace pinwarden::zero
