// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/zero/loss_scaler.hpp>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace pinwarden::zero {
namespace {

constexpr double scale_factor = 2.0;

/// The loss is an fp32 number and so is its scale in the end: a larger one would be infinite there.
constexpr double largest_scale = 0x1p127;

}  // namespace

LossScaler::LossScaler(const LossScaleOptions& options) noexcept
    : options_(options),
      scale_(options.loss_scale),
      dynamic_(options.loss_scale == 0.0),
      patience_(options.hysteresis) {
    if (dynamic_) scale_ = std::ldexp(1.0, static_cast<int>(options.initial_scale_power));
}

void LossScaler::update_scale(bool overflow) {
    if (!dynamic_) return;
    if (overflow) {
        shrink();
        last_overflow_step_ = step_;
    } else {
        if (options_.consecutive_hysteresis) patience_ = options_.hysteresis;
        const std::int64_t steps_without = step_ - last_overflow_step_ - 1;
        if (steps_without > 0 && steps_without % options_.loss_scale_window == 0) {
            patience_ = options_.hysteresis;
            scale_ = std::min(scale_ * scale_factor, std::max(scale_, largest_scale));
        }
    }
    ++step_;
}

void LossScaler::shrink() {
    if (patience_ > 1) {
        --patience_;
        return;
    }
    if (scale_ == options_.min_loss_scale)
        throw LossScaleError(fmt::format(
            "LossScaler::update_scale(overflow: true): the gradients overflow although the loss scale is at "
            "its minimum, fp16.min_loss_scale = {}; lower the learning rate, clip gradients or train in bf16",
            options_.min_loss_scale));
    scale_ = std::max(scale_ / scale_factor, options_.min_loss_scale);
}

}  // namespace pinwarden::zero
