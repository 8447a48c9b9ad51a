// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/zero/adam.hpp>

#include <cmath>
#include <cstddef>

#include <fmt/format.h>

#include <pinwarden/core/error.hpp>

namespace pinwarden::zero {
namespace {

/// What is the same for all elements of a step, computed in double and rounded once.
struct Factors {
    float scale;
    float beta1;
    float rest1;  // 1 - beta1
    float beta2;
    float rest2;        // 1 - beta2
    float step_size;    // learning rate over the first bias correction
    float root_factor;  // one over the root of the second bias correction
    float eps;
    float l2;     // weight decay that is added to the gradient: Adam
    float decay;  // weight decay that shrinks the parameter itself: AdamW
};

Factors factors_of(std::int64_t step, const AdamOptions& options, float scale) {
    const auto exponent = static_cast<double>(step);
    const double correction1 = options.bias_correction ? 1.0 - std::pow(options.beta1, exponent) : 1.0;
    const double correction2 = options.bias_correction ? 1.0 - std::pow(options.beta2, exponent) : 1.0;
    const double decay = options.adam_w_mode ? options.learning_rate * options.weight_decay : 0.0;
    const double l2 = options.adam_w_mode ? 0.0 : options.weight_decay;
    return {
        .scale = scale,
        .beta1 = static_cast<float>(options.beta1),
        .rest1 = static_cast<float>(1.0 - options.beta1),
        .beta2 = static_cast<float>(options.beta2),
        .rest2 = static_cast<float>(1.0 - options.beta2),
        .step_size = static_cast<float>(options.learning_rate / correction1),
        .root_factor = static_cast<float>(1.0 / std::sqrt(correction2)),
        .eps = static_cast<float>(options.eps),
        .l2 = static_cast<float>(l2),
        .decay = static_cast<float>(decay),
    };
}

float as_float(float value) { return value; }
float as_float(Bf16 value) { return value.to_float(); }
float as_float(Fp16 value) { return value.to_float(); }

template <class Gradient>
void update(std::int64_t step, const AdamOptions& options, const AdamState& state,
            gsl::span<const Gradient> gradients, float scale) {
    const std::size_t count = state.hp.size();
    if (step < 1) throw SizeError(fmt::format("adam_update(step: {}): steps are counted from 1", step));
    if (state.exp_avg.size() != count || state.exp_avg_sq.size() != count || gradients.size() != count)
        throw SizeError(
            fmt::format("adam_update(hp: {}, exp_avg: {}, exp_avg_sq: {}, gradients: {}): "
                        "the numbers of elements differ",
                        count, state.exp_avg.size(), state.exp_avg_sq.size(), gradients.size()));
    const Factors f = factors_of(step, options, scale);
    float* const hp = state.hp.data();
    float* const exp_avg = state.exp_avg.data();
    float* const exp_avg_sq = state.exp_avg_sq.data();
    const Gradient* const source = gradients.data();
    for (std::size_t i = 0; i < count; ++i) {
        const float p = hp[i];
        const float g = as_float(source[i]) * f.scale + f.l2 * p;
        const float m = f.beta1 * exp_avg[i] + f.rest1 * g;
        const float v = f.beta2 * exp_avg_sq[i] + f.rest2 * (g * g);
        const float denominator = std::sqrt(v) * f.root_factor + f.eps;
        exp_avg[i] = m;
        exp_avg_sq[i] = v;
        hp[i] = p - f.decay * p - f.step_size * (m / denominator);
    }
}

}  // namespace

void adam_update(std::int64_t step, const AdamOptions& options, const AdamState& state,
                 gsl::span<const float> gradients, float scale) {
    update(step, options, state, gradients, scale);
}

void adam_update(std::int64_t step, const AdamOptions& options, const AdamState& state,
                 gsl::span<const Bf16> gradients, float scale) {
    update(step, options, state, gradients, scale);
}

void adam_update(std::int64_t step, const AdamOptions& options, const AdamState& state,
                 gsl::span<const Fp16> gradients, float scale) {
    update(step, options, state, gradients, scale);
}

}  // namespace pinwarden::zero
