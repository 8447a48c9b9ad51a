// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The loss scale of fp16 training, static or dynamic, by DeepSpeed's rules and with its names.
///
/// The loss is multiplied by the scale before backward, so that small gradients do not vanish in fp16, and
/// gradients are divided by it before they are used. The dynamic scale starts at 2^initial_scale_power. An
/// overflow first uses up `hysteresis - 1` units of patience, then halves the scale, never below
/// `min_loss_scale`. After each `loss_scale_window` steps in a row without overflow it doubles, up to
/// 2^127, and patience is restored; with `consecutive_hysteresis` each step without overflow restores it.
///
///     zero::LossScaler scaler{config.fp16};
///     const bool overflow = zero::has_overflow(gradients);
///     scaler.update_scale(overflow);

#include <cstdint>

#include <pinwarden/core/error.hpp>
#include <pinwarden/core/export.hpp>

namespace pinwarden::zero {

/// The fields of a configuration's `fp16` section that concern the scale; the defaults are DeepSpeed's.
struct LossScaleOptions {
    double loss_scale = 0.0;                ///< a static scale; 0 means dynamic
    std::int64_t initial_scale_power = 16;  ///< the dynamic scale starts at 2 to this power
    std::int64_t loss_scale_window = 1000;  ///< steps without overflow until the scale doubles
    std::int64_t hysteresis = 2;            ///< the scale is halved from this overflow on
    bool consecutive_hysteresis = false;    ///< each step without overflow restores the hysteresis
    double min_loss_scale = 1.0;            ///< the dynamic scale is never halved below this

    [[nodiscard]] friend bool operator==(const LossScaleOptions&, const LossScaleOptions&) noexcept = default;
};

/// An overflow while the dynamic loss scale is at its minimum already: training does not converge in fp16.
class PINWARDEN_API LossScaleError : public Error {
public:
    using Error::Error;
};

/// The scale and its history. Not thread-safe; a copy is an exact snapshot.
class PINWARDEN_API LossScaler {
public:
    /// A scale of 1 that never changes, as for bf16.
    LossScaler() noexcept = default;
    /// A static scale if `options.loss_scale` is not 0, else a dynamic one.
    explicit LossScaler(const LossScaleOptions& options) noexcept;

    /// The scale to multiply the next loss by.
    [[nodiscard]] double loss_scale() const noexcept { return scale_; }
    /// Whether the scale changes by itself.
    [[nodiscard]] bool is_dynamic() const noexcept { return dynamic_; }

    /// Learns whether the gradients of a step overflowed, and sets the scale for the next. To be called once
    /// per step.
    /// @throws LossScaleError if the scale should be halved and is at its minimum; nothing is changed then.
    void update_scale(bool overflow);

    [[nodiscard]] friend bool operator==(const LossScaler&, const LossScaler&) noexcept = default;

private:
    void shrink();

    LossScaleOptions options_{};
    double scale_ = 1.0;
    bool dynamic_ = false;
    std::int64_t patience_ = 1;  // what is left of the hysteresis
    std::int64_t step_ = 0;
    std::int64_t last_overflow_step_ = -1;
};

}  // namespace pinwarden::zero
