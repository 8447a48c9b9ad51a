// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Learning-rate schedules, with DeepSpeed's names, formulas and timing.
///
/// A schedule looks at the number of steps applied so far; skipped steps (overflow) do not count. As in
/// DeepSpeed it is advanced *after* each step, so that with n steps applied its iteration is n - 1: the first
/// two steps are both taken at `warmup_min_lr`.

#include <cstdint>
#include <optional>

#include <pinwarden/core/export.hpp>

namespace pinwarden::zero {

/// Which schedule.
enum class Scheduler : std::uint8_t {
    constant,         ///< no `scheduler` section: each group keeps its own learning rate
    warmup_lr,        ///< `WarmupLR`: rises to the maximum and stays there
    warmup_decay_lr,  ///< `WarmupDecayLR`: rises, then falls linearly until `total_num_steps`
};

/// How the rate rises.
enum class WarmupType : std::uint8_t {
    log,     ///< with the logarithm of the iteration
    linear,  ///< with the iteration
};

/// A configuration's `scheduler` section; the defaults are DeepSpeed's.
struct SchedulerOptions {
    Scheduler type = Scheduler::constant;
    double warmup_min_lr = 0.0;
    std::optional<double> warmup_max_lr{};  ///< unset: `optimizer.params.lr`
    std::int64_t warmup_num_steps = 1000;   ///< 1 counts as 2, as in DeepSpeed
    WarmupType warmup_type = WarmupType::log;
    std::int64_t total_num_steps = 0;  ///< WarmupDecayLR only

    [[nodiscard]] friend bool operator==(const SchedulerOptions&, const SchedulerOptions&) noexcept = default;
};

/// The rate for the next step after `applied_steps` steps.
/// @param base_rate the group's own rate, used by Scheduler::constant alone
/// @param optimizer_rate the configuration's `optimizer.params.lr`, the maximum where `warmup_max_lr` is not
/// set
[[nodiscard]] PINWARDEN_API double learning_rate(const SchedulerOptions& options, double base_rate,
                                                 double optimizer_rate, std::int64_t applied_steps) noexcept;

}  // namespace pinwarden::zero
