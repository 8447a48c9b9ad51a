// SPDX-License-Identifier: Apache-2.0
#include "zero/kernels.hpp"

#include <pinwarden/zero/gradient_norm.hpp>

#include "zero/byte_view.hpp"

namespace pinwarden::zero {

void narrow_scaled(LowPrecision format, gsl::span<const float> values, float factor,
                   gsl::span<std::byte> destination) noexcept {
    with_format(format, [&]<typename Lp>(Lp) {
        const float* from = values.data();
        Lp* to = view_as<Lp>(destination).data();
        for (std::size_t i = 0; i < values.size(); ++i) to[i] = Lp::from_float(from[i] * factor);
    });
}

void widen_all(LowPrecision format, gsl::span<const std::byte> source, gsl::span<float> destination) {
    with_format(format, [&]<typename Lp>(Lp) { widen(view_as<Lp>(source), destination); });
}

void accumulate(LowPrecision format, gsl::span<std::byte> sums, gsl::span<const std::byte> values) noexcept {
    with_format(format, [&]<typename Lp>(Lp) {
        Lp* sum = view_as<Lp>(sums).data();
        const Lp* value = view_as<Lp>(values).data();
        const std::size_t count = sums.size() / lp_bytes;
        for (std::size_t i = 0; i < count; ++i)
            sum[i] = Lp::from_float(sum[i].to_float() + value[i].to_float());
    });
}

double sum_of_squares(LowPrecision format, gsl::span<const gsl::span<const std::byte>> gradients) noexcept {
    GradientNorm norm;
    with_format(format, [&]<typename Lp>(Lp) {
        for (const auto& part : gradients) norm.add(view_as<Lp>(part));
    });
    return norm.sum_of_squares();
}

void step_sub_group(const SubGroupStep& step, const SubGroupUpdate& update,
                    gsl::span<const std::byte> gradients, float gradient_factor) {
    with_format(step.format, [&]<typename Lp>(Lp) {
        adam_update(step.number, update.options, update.state, view_as<Lp>(gradients), gradient_factor);
        narrow(update.state.hp, view_as<Lp>(update.lp_params));
    });
}

void step_all(const SubGroupStep& step, float gradient_factor) {
    for (const auto& update : step.sub_groups)
        step_sub_group(step, update, update.gradients, gradient_factor);
}

}  // namespace pinwarden::zero
