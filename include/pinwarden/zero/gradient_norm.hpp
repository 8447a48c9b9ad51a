// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The global norm of gradients, their overflow, and the factor that unscales and clips them.
///
///     zero::GradientNorm norm;
///     for (const auto& group : groups) norm.add(group.gradients);
///     const double combined = zero::combined_scale(norm.value(), scaler.loss_scale(), max_norm);
///     zero::adam_update(step, options, state, gradients, static_cast<float>(1.0 / combined));

#include <array>
#include <cstddef>

#include <gsl/span>

#include <pinwarden/core/export.hpp>
#include <pinwarden/zero/low_precision.hpp>

namespace pinwarden::zero {

/// Whether an element is infinite or NaN. Cost: one pass, no early exit.
[[nodiscard]] PINWARDEN_API bool has_overflow(gsl::span<const float> gradients) noexcept;
/// @copydoc has_overflow(gsl::span<const float>)
[[nodiscard]] PINWARDEN_API bool has_overflow(gsl::span<const Bf16> gradients) noexcept;
/// @copydoc has_overflow(gsl::span<const float>)
[[nodiscard]] PINWARDEN_API bool has_overflow(gsl::span<const Fp16> gradients) noexcept;

/// The L2 norm of all elements added so far.
///
/// Squares are summed in double, in an order that depends on an element's position in the whole sequence
/// alone: the bits are the same however the sequence is cut into calls.
class PINWARDEN_API GradientNorm {
public:
    /// Adds elements to the end of the sequence.
    void add(gsl::span<const float> gradients) noexcept;
    /// @copydoc add(gsl::span<const float>)
    void add(gsl::span<const Bf16> gradients) noexcept;
    /// @copydoc add(gsl::span<const float>)
    void add(gsl::span<const Fp16> gradients) noexcept;

    /// The norm; not finite if, and only if, an element is not: squares of finite floats cannot overflow a
    /// double.
    [[nodiscard]] double value() const noexcept;

    /// The norm's square: what ranks add up to get the norm of what they have together.
    [[nodiscard]] double sum_of_squares() const noexcept;

private:
    template <class T>
    void add_elements(gsl::span<const T> gradients) noexcept;

    static constexpr std::size_t lane_count = 8;  // independent sums, so that vector units have work
    std::array<double, lane_count> lanes_{};
    std::size_t next_lane_ = 0;
};

/// What scaled gradients are to be divided by, so that they are unscaled and their norm is at most
/// `max_norm`.
///
/// DeepSpeed's rule: the loss scale times `(scaled_norm / loss_scale + 1e-6) / max_norm` where that is more
/// than 1.
/// @param scaled_norm the norm of the gradients as they are, loss scale included
/// @param max_norm the configuration's `gradient_clipping`; 0 does not clip
[[nodiscard]] PINWARDEN_API double combined_scale(double scaled_norm, double loss_scale,
                                                  double max_norm) noexcept;

}  // namespace pinwarden::zero
