// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/zero/learning_rate.hpp>

#include <algorithm>
#include <cmath>

namespace pinwarden::zero {
namespace {

/// How far between the minimum and the maximum, from 0 to 1.
double fraction(const SchedulerOptions& options, std::int64_t iteration) noexcept {
    const std::int64_t warmup_steps = std::max<std::int64_t>(2, options.warmup_num_steps);
    if (iteration < warmup_steps) {
        const auto now = static_cast<double>(iteration);
        const auto warmup = static_cast<double>(warmup_steps);
        return options.warmup_type == WarmupType::log ? std::log(now + 1.0) / std::log(warmup) : now / warmup;
    }
    if (options.type == Scheduler::warmup_lr) return 1.0;
    const auto left = static_cast<double>(options.total_num_steps - iteration);
    const auto decay_steps = static_cast<double>(options.total_num_steps - warmup_steps);
    return std::max(0.0, left / std::max(1.0, decay_steps));
}

}  // namespace

double learning_rate(const SchedulerOptions& options, double base_rate, double optimizer_rate,
                     std::int64_t applied_steps) noexcept {
    if (options.type == Scheduler::constant) return base_rate;
    const std::int64_t iteration = applied_steps - 1;
    if (iteration < 0) return options.warmup_min_lr;
    const double maximum = options.warmup_max_lr.value_or(optimizer_rate);
    return options.warmup_min_lr + (maximum - options.warmup_min_lr) * fraction(options, iteration);
}

}  // namespace pinwarden::zero
