// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/zero/gradient_norm.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace pinwarden::zero {
namespace {

// An exponent of all ones is what infinities and NaNs have in common.
bool is_special(float value) { return (std::bit_cast<std::uint32_t>(value) & 0x7F80'0000U) == 0x7F80'0000U; }
bool is_special(Bf16 value) { return (value.bits & 0x7F80U) == 0x7F80U; }
bool is_special(Fp16 value) { return (value.bits & 0x7C00U) == 0x7C00U; }

double as_double(float value) { return static_cast<double>(value); }
double as_double(Bf16 value) { return static_cast<double>(value.to_float()); }
double as_double(Fp16 value) { return static_cast<double>(value.to_float()); }

template <class T>
bool any_special(gsl::span<const T> gradients) {
    const T* const source = gradients.data();
    unsigned found = 0;
    for (std::size_t i = 0; i < gradients.size(); ++i) found |= static_cast<unsigned>(is_special(source[i]));
    return found != 0;
}

}  // namespace

bool has_overflow(gsl::span<const float> gradients) noexcept { return any_special(gradients); }
bool has_overflow(gsl::span<const Bf16> gradients) noexcept { return any_special(gradients); }
bool has_overflow(gsl::span<const Fp16> gradients) noexcept { return any_special(gradients); }

template <class T>
void GradientNorm::add_elements(gsl::span<const T> gradients) noexcept {
    const T* const source = gradients.data();
    const std::size_t count = gradients.size();
    std::size_t i = 0;
    const auto add_one = [&] {
        const double element = as_double(source[i++]);
        lanes_[next_lane_] += element * element;
        next_lane_ = (next_lane_ + 1) % lane_count;
    };
    while (i < count && next_lane_ != 0) add_one();
    // A local copy, so that the sums can stay in registers.
    std::array<double, lane_count> lanes = lanes_;
    for (; count - i >= lane_count; i += lane_count) {
        for (std::size_t lane = 0; lane < lane_count; ++lane) {
            const double element = as_double(source[i + lane]);
            lanes[lane] += element * element;
        }
    }
    lanes_ = lanes;
    while (i < count) add_one();
}

void GradientNorm::add(gsl::span<const float> gradients) noexcept { add_elements(gradients); }
void GradientNorm::add(gsl::span<const Bf16> gradients) noexcept { add_elements(gradients); }
void GradientNorm::add(gsl::span<const Fp16> gradients) noexcept { add_elements(gradients); }

double GradientNorm::sum_of_squares() const noexcept {
    double sum = 0.0;
    for (const double lane : lanes_) sum += lane;
    return sum;
}

double GradientNorm::value() const noexcept { return std::sqrt(sum_of_squares()); }

double combined_scale(double scaled_norm, double loss_scale, double max_norm) noexcept {
    // DeepSpeed adds it so that a norm of exactly the maximum is scaled to just below it.
    constexpr double margin = 1e-6;
    if (max_norm <= 0.0) return loss_scale;
    const double excess = (scaled_norm / loss_scale + margin) / max_norm;
    return excess > 1.0 ? excess * loss_scale : loss_scale;
}

}  // namespace pinwarden::zero
