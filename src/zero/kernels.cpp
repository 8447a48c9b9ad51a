// SPDX-License-Identifier: Apache-2.0
#include "zero/kernels.hpp"

#include <algorithm>

#include <pinwarden/zero/gradient_norm.hpp>

#include "zero/byte_view.hpp"

namespace pinwarden::zero {
namespace {

// Calls `function` with a value of the format's type, so that the loops below are compiled once for each.
template <typename Function>
void with_format(LowPrecision format, Function function) {
    if (format == LowPrecision::bf16) {
        function(Bf16{});
    } else {
        function(Fp16{});
    }
}

void replace(gsl::span<std::byte> destination, gsl::span<const std::byte> source) noexcept {
    std::copy_n(source.data(), source.size(), destination.data());
}

// Calls `function(group part, bucket part)` for each group that the bucket touches.
template <typename Function>
void for_each_piece(const Accumulation& accumulation, const GradientBucket& bucket, Function function) {
    std::size_t group_begin = 0;
    for (const auto& group : accumulation.lp_grads) {
        const std::size_t group_end = group_begin + group.size() / lp_bytes;
        const std::size_t begin = std::max(bucket.begin, group_begin);
        const std::size_t end = std::min(bucket.end, group_end);
        if (begin < end) {
            const std::size_t bytes = (end - begin) * lp_bytes;
            function(group.subspan((begin - group_begin) * lp_bytes, bytes),
                     accumulation.bucket.subspan((begin - bucket.begin) * lp_bytes, bytes));
        }
        group_begin = group_end;
    }
}

}  // namespace

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

void accumulate_micro_batch(const Accumulation& accumulation) noexcept {
    const auto add = [&](gsl::span<std::byte> sums, gsl::span<const std::byte> values) {
        if (accumulation.first) {
            replace(sums, values);
        } else {
            accumulate(accumulation.format, sums, values);
        }
    };
    if (accumulation.through_bucket) {
        for (const auto& bucket : accumulation.buckets) {
            replace(accumulation.bucket,
                    accumulation.gradients.subspan(bucket.begin * lp_bytes, bucket.size() * lp_bytes));
            for_each_piece(accumulation, bucket, add);
        }
        return;
    }
    std::size_t offset = 0;
    for (const auto& group : accumulation.lp_grads) {
        add(group, accumulation.gradients.subspan(offset, group.size()));
        offset += group.size();
    }
    if (!accumulation.reduce_sums) return;
    for (const auto& bucket : accumulation.buckets) {
        for_each_piece(accumulation, bucket,
                       [](gsl::span<std::byte> sums, gsl::span<std::byte> piece) { replace(piece, sums); });
        for_each_piece(accumulation, bucket,
                       [](gsl::span<std::byte> sums, gsl::span<std::byte> piece) { replace(sums, piece); });
    }
}

double gradient_norm(LowPrecision format, gsl::span<const gsl::span<const std::byte>> lp_grads) noexcept {
    GradientNorm norm;
    with_format(format, [&]<typename Lp>(Lp) {
        for (const auto& group : lp_grads) norm.add(view_as<Lp>(group));
    });
    return norm.value();
}

void run_optimizer_step(const OptimizerStep& step) {
    with_format(step.format, [&]<typename Lp>(Lp) {
        for (const auto& group : step.groups) {
            const auto gradients = view_as<Lp>(group.lp_grads);
            const auto lp_params = view_as<Lp>(group.lp_params);
            for (std::size_t begin = 0; begin < gradients.size(); begin += step.sub_group_size) {
                const std::size_t count = std::min(step.sub_group_size, gradients.size() - begin);
                const AdamState piece{.hp = group.state.hp.subspan(begin, count),
                                      .exp_avg = group.state.exp_avg.subspan(begin, count),
                                      .exp_avg_sq = group.state.exp_avg_sq.subspan(begin, count)};
                adam_update(step.number, group.options, piece, gradients.subspan(begin, count),
                            step.gradient_factor);
                narrow(piece.hp, lp_params.subspan(begin, count));
            }
        }
    });
}

}  // namespace pinwarden::zero
