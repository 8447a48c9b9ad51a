// SPDX-License-Identifier: Apache-2.0

// What the fields of a configuration say together.

#include <cmath>
#include <string>

#include <fmt/format.h>

#include <pinwarden/core/error.hpp>

#include "zero/config_check.hpp"

namespace pinwarden::zero {
namespace {

[[noreturn]] void refuse(std::string_view origin, std::string_view path, std::string_view problem) {
    throw ConfigurationError(fmt::format("{}: {}: {}", origin, path, problem));
}

/// DeepSpeed's rule: of the three fields one may be left out, or two if a batch size is left.
void set_batch(Draft& draft, std::string_view origin, std::int64_t ranks) {
    auto total = draft.train_batch_size;
    auto micro = draft.train_micro_batch_size_per_gpu;
    auto steps = draft.gradient_accumulation_steps;
    constexpr std::string_view equation =
        "train_batch_size = train_micro_batch_size_per_gpu x gradient_accumulation_steps x number of "
        "processes";
    if (!total && !micro)
        refuse(origin, "train_batch_size",
               fmt::format("this field and train_micro_batch_size_per_gpu are both missing; "
                           "give at least one of them ({})",
                           equation));
    const auto product = [&] {
        constexpr std::int64_t largest_batch = 2147483647;
        const std::int64_t of_a_rank = *micro * *steps;  // neither is larger than the largest batch
        if (of_a_rank > largest_batch / ranks)
            refuse(origin, "train_micro_batch_size_per_gpu",
                   fmt::format("{} x {} x {} is more than the largest batch, {} ({})", *micro, *steps, ranks,
                               largest_batch, equation));
        return of_a_rank * ranks;
    };
    const auto divide = [&](std::int64_t divisor, std::string_view name) {
        if (*total % divisor == 0 && *total / divisor % ranks == 0) return *total / divisor / ranks;
        const std::string of_ranks = ranks == 1 ? std::string() : fmt::format(" x {} ranks", ranks);
        refuse(origin, "train_batch_size",
               fmt::format("found {}, which is not a multiple of {} = {}{} ({})", *total, name, divisor,
                           of_ranks, equation));
    };
    if (!total) {
        steps = steps.value_or(1);
        total = product();
    } else if (!micro) {
        steps = steps.value_or(1);
        micro = divide(*steps, "gradient_accumulation_steps");
    } else if (!steps) {
        steps = divide(*micro, "train_micro_batch_size_per_gpu");
    }
    if (*total != product())
        refuse(origin, "train_batch_size",
               fmt::format("found {}, but {} x {} x {} = {} ({})", *total, *micro, *steps, ranks, product(),
                           equation));
    draft.config.train_batch_size = *total;
    draft.config.train_micro_batch_size_per_gpu = *micro;
    draft.config.gradient_accumulation_steps = *steps;
}

void set_precision(Draft& draft, std::string_view origin) {
    if (draft.bf16_enabled && draft.fp16_enabled)
        refuse(origin, "fp16.enabled", "found true, and bf16.enabled is true as well; enable one of the two");
    if (!draft.bf16_enabled && !draft.fp16_enabled)
        refuse(origin, "bf16.enabled",
               "neither bf16.enabled nor fp16.enabled is true; enable one of the two, for the "
               "engine trains in mixed precision");
    draft.config.low_precision = draft.bf16_enabled ? LowPrecision::bf16 : LowPrecision::fp16;
    const std::string_view format = name(draft.config.low_precision);
    if (!draft.grad_accum_dtype.empty() && draft.grad_accum_dtype != format)
        refuse(origin, "data_types.grad_accum_dtype",
               fmt::format("found \"{}\"; valid: \"{}\", the format of the lp params, which gradients are "
                           "accumulated in",
                           draft.grad_accum_dtype, format));
    const LossScaleOptions& scale = draft.config.fp16;
    if (scale.loss_scale == 0.0 &&
        std::ldexp(1.0, static_cast<int>(scale.initial_scale_power)) < scale.min_loss_scale)
        refuse(origin, "fp16.min_loss_scale",
               fmt::format("found {}, which is more than the initial scale, 2 to the power of "
                           "fp16.initial_scale_power = {}",
                           format_number(scale.min_loss_scale), scale.initial_scale_power));
}

void set_optimizer(Draft& draft) {
    constexpr double torch_adam_w_decay = 0.01;
    AdamOptions& optimizer = draft.config.optimizer;
    optimizer.adam_w_mode = draft.adam_w_type || draft.adam_w_mode;
    const bool takes_default = !draft.given.contains("optimizer.params.weight_decay");
    if (draft.torch_adam && optimizer.adam_w_mode && takes_default)
        optimizer.weight_decay = torch_adam_w_decay;
}

void set_scheduler(Draft& draft, std::string_view origin) {
    constexpr double warmup_decay_max_lr = 0.001;  // DeepSpeed's default, whatever the optimizer's rate is
    constexpr std::string_view total = "scheduler.params.total_num_steps";
    SchedulerOptions& scheduler = draft.config.scheduler;
    const bool has_total = draft.given.contains(total);
    if (scheduler.type == Scheduler::warmup_lr && has_total)
        refuse(origin, total,
               "scheduler.type is \"WarmupLR\", which has no such field; remove it, or write "
               "\"WarmupDecayLR\"");
    if (scheduler.type != Scheduler::warmup_decay_lr) return;
    if (!has_total)
        refuse(origin, total,
               "this field is missing, which \"WarmupDecayLR\" requires; valid: a whole number, at "
               "least warmup_num_steps");
    if (scheduler.total_num_steps < scheduler.warmup_num_steps)
        refuse(origin, total,
               fmt::format("found {}, which is less than warmup_num_steps = {}", scheduler.total_num_steps,
                           scheduler.warmup_num_steps));
    if (!scheduler.warmup_max_lr) scheduler.warmup_max_lr = warmup_decay_max_lr;
}

void check_offload(const Draft& draft, std::string_view origin) {
    const ZeroConfig& zero = draft.config.zero_optimization;
    constexpr std::string_view device = "zero_optimization.offload_param.device";
    const bool parameters = zero.offload_param.device == OffloadDevice::cpu;
    if (parameters && zero.stage != 3)
        refuse(
            origin, device,
            fmt::format("found \"cpu\", and zero_optimization.stage is {}; stage 3 alone offloads parameters",
                        zero.stage));
    if (parameters && zero.offload_optimizer.device != OffloadDevice::cpu)
        refuse(origin, device,
               "found \"cpu\", and zero_optimization.offload_optimizer.device is not \"cpu\"; parameters are "
               "updated where the optimizer runs, so offload it as well");
}

void check_secondary_shards(const Draft& draft, std::string_view origin, std::size_t ranks) {
    const ZeroConfig& zero = draft.config.zero_optimization;
    constexpr std::string_view path = "zero_optimization.zero_hpz_partition_size";
    const std::size_t size = zero.zero_hpz_partition_size;
    if (size != 1 && zero.stage != 3)
        refuse(origin, path,
               fmt::format("found {}, and zero_optimization.stage is {}; stage 3 alone has secondary shards",
                           size, zero.stage));
    if (ranks % size != 0)
        refuse(origin, path,
               fmt::format("found {}, which does not divide the {} rank(s) into nodes of that many; valid: a "
                           "divisor of the number of ranks",
                           size, ranks));
}

void check_super_offload(const Draft& draft, std::string_view origin) {
    const OffloadOptimizerConfig& offload = draft.config.zero_optimization.offload_optimizer;
    if (offload.super_offload && offload.device != OffloadDevice::cpu)
        refuse(origin, "zero_optimization.offload_optimizer.super_offload",
               "found true, and zero_optimization.offload_optimizer.device is not \"cpu\"; SuperOffload runs "
               "the optimizer on the host, so offload it, or switch super_offload off");
}

}  // namespace

Config apply_rules(Draft draft, std::string_view origin, std::size_t ranks) {
    set_batch(draft, origin, static_cast<std::int64_t>(ranks));
    set_precision(draft, origin);
    set_optimizer(draft);
    set_scheduler(draft, origin);
    check_offload(draft, origin);
    check_secondary_shards(draft, origin, ranks);
    check_super_offload(draft, origin);
    return draft.config;
}

}  // namespace pinwarden::zero
