// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// One step of Adam or AdamW on flat fp32 arrays.
///
/// Adam is Kingma & Ba, "Adam: A Method for Stochastic Optimization", ICLR 2015, algorithm 1; the decoupled
/// weight decay is Loshchilov & Hutter, "Decoupled Weight Decay Regularization", ICLR 2019, algorithm 2. In
/// step t (the first is 1), for each parameter p with its gradient g, learning rate a, betas b1 and b2 and
/// weight decay w:
///
///     g = gradient * scale                          (scale undoes the loss scale and clips)
///     g = g + w * p                                 (Adam only: L2 regularisation)
///     m = b1 * m + (1 - b1) * g                     (exp_avg)
///     v = b2 * v + (1 - b2) * g * g                 (exp_avg_sq)
///     c1 = 1 - b1^t, c2 = 1 - b2^t                  (both 1 without bias correction)
///     p = p - a * w * p                             (AdamW only)
///     p = p - (a / c1) * m / (sqrt(v) / sqrt(c2) + eps)
///
/// All is computed in fp32, the factors that are the same for all elements in double and rounded once. Each
/// element depends on its own index alone, and no operation is fused, so that the bits do not depend on how
/// the arrays are cut into pieces nor on the vector width. Cost: one pass, 28 bytes of memory traffic per
/// element with fp32 gradients.

#include <cstdint>

#include <gsl/span>

#include <pinwarden/core/export.hpp>
#include <pinwarden/zero/low_precision.hpp>

namespace pinwarden::zero {

/// What stays the same from step to step. The defaults are DeepSpeed's.
struct AdamOptions {
    double learning_rate = 1e-3;
    double beta1 = 0.9;
    double beta2 = 0.999;
    double eps = 1e-8;
    double weight_decay = 0.0;
    bool adam_w_mode = true;  ///< true: AdamW; false: Adam with L2 regularisation
    bool bias_correction = true;

    [[nodiscard]] friend bool operator==(const AdamOptions&, const AdamOptions&) noexcept = default;
};

/// The arrays that a step changes; all of one length, and none overlapping another.
struct AdamState {
    gsl::span<float> hp;          ///< fp32 master parameters
    gsl::span<float> exp_avg;     ///< first moment
    gsl::span<float> exp_avg_sq;  ///< second moment
};

/// Takes step number `step` with gradients that are multiplied by `scale` first.
/// @pre `step` counts from 1, and is the number of steps applied to this state, this one included.
/// @throws SizeError if the arrays differ in length or `step` is less than 1; nothing is changed then.
PINWARDEN_API void adam_update(std::int64_t step, const AdamOptions& options, const AdamState& state,
                               gsl::span<const float> gradients, float scale = 1.0F);
/// @copydoc adam_update(std::int64_t, const AdamOptions&, const AdamState&, gsl::span<const float>, float)
PINWARDEN_API void adam_update(std::int64_t step, const AdamOptions& options, const AdamState& state,
                               gsl::span<const Bf16> gradients, float scale = 1.0F);
/// @copydoc adam_update(std::int64_t, const AdamOptions&, const AdamState&, gsl::span<const float>, float)
PINWARDEN_API void adam_update(std::int64_t step, const AdamOptions& options, const AdamState& state,
                               gsl::span<const Fp16> gradients, float scale = 1.0F);

}  // namespace pinwarden::zero
