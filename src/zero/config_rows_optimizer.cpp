// SPDX-License-Identifier: Apache-2.0

// The rows of the schema under `optimizer` and `scheduler`.

#include "zero/config_rows.hpp"

namespace pinwarden::zero {
namespace {

using enum Kind;
using enum FieldTreatment;

// Rates are used in fp32: a larger one would be infinite there.
constexpr Range rate_range{.least = 0, .most = 1e30};

std::vector<Field> optimizer_params() {
    return {
        {.path = "optimizer.params.lr",
         .kind = number,
         .range = rate_range,
         .store = [](Draft& draft,
                     const Value& value) { draft.config.optimizer.learning_rate = number_of(value); }},
        {.path = "optimizer.params.betas",
         .kind = pair,
         .range = {.least = 0, .most = 1, .below_most = true},
         .store =
             [](Draft& draft, const Value& value) {
                 const auto& betas = std::get<Value::Array>(value.data);
                 draft.config.optimizer.beta1 = number_of(betas[0]);
                 draft.config.optimizer.beta2 = number_of(betas[1]);
             }},
        {.path = "optimizer.params.eps",
         .kind = number,
         .range = {.least = 1e-37, .most = 1e30},
         .note = "a smaller eps is 0 or nearly so in fp32, and a gradient of 0 would be divided by it",
         .store = [](Draft& draft, const Value& value) { draft.config.optimizer.eps = number_of(value); }},
        {.path = "optimizer.params.weight_decay",
         .kind = number,
         .range = rate_range,
         .store = [](Draft& draft,
                     const Value& value) { draft.config.optimizer.weight_decay = number_of(value); }},
        {.path = "optimizer.params.bias_correction",
         .kind = boolean,
         .store = [](Draft& draft,
                     const Value& value) { draft.config.optimizer.bias_correction = truth(value); }},
        {.path = "optimizer.params.adam_w_mode",
         .kind = boolean,
         .note = "with the type AdamW it makes no difference, as in DeepSpeed",
         .store = [](Draft& draft, const Value& value) { draft.adam_w_mode = truth(value); }},
        {.path = "optimizer.params.torch_adam",
         .kind = boolean,
         .note = "the formula is the same; true gives AdamW the default weight decay of torch, 0.01",
         .store = [](Draft& draft, const Value& value) { draft.torch_adam = truth(value); }},
        must_be("optimizer.params.fp32_optimizer_states", {true}, "optimizer states are fp32"),
        must_be("optimizer.params.amsgrad", {false}, "the engine does not offer this variant"),
        idle_flag("optimizer.params.set_grad_none", "gradients are zeroed after each step in either case"),
        unsupported("optimizer.params.max_grad_norm",
                    "write gradient_clipping at the top of the file instead"),
    };
}

std::vector<Field> scheduler_params() {
    return {
        {.path = "scheduler.params.warmup_min_lr",
         .kind = number,
         .range = rate_range,
         .store = [](Draft& draft,
                     const Value& value) { draft.config.scheduler.warmup_min_lr = number_of(value); }},
        {.path = "scheduler.params.warmup_max_lr",
         .kind = number,
         .nullable = true,
         .range = rate_range,
         .note = "null, or not given: optimizer.params.lr for WarmupLR, 0.001 for WarmupDecayLR",
         .store = [](Draft& draft,
                     const Value& value) { draft.config.scheduler.warmup_max_lr = number_of(value); }},
        {.path = "scheduler.params.warmup_num_steps",
         .kind = whole,
         .range = {.least = 1},
         .store = [](Draft& draft,
                     const Value& value) { draft.config.scheduler.warmup_num_steps = whole_of(value); }},
        {.path = "scheduler.params.warmup_type",
         .kind = text,
         .choices = {"log", "linear"},
         .store =
             [](Draft& draft, const Value& value) {
                 draft.config.scheduler.warmup_type =
                     text_of(value) == "log" ? WarmupType::log : WarmupType::linear;
             }},
        {.path = "scheduler.params.total_num_steps",
         .kind = whole,
         .range = {.least = 1},
         .note = "WarmupDecayLR alone has it, and requires it",
         .store = [](Draft& draft,
                     const Value& value) { draft.config.scheduler.total_num_steps = whole_of(value); }},
        {.path = "scheduler.params.last_batch_iteration",
         .kind = whole,
         .treatment = fixed,
         .only = {std::int64_t{-1}},
         .note = "training starts at the beginning"},
    };
}

}  // namespace

std::vector<Field> optimizer_rows() {
    std::vector<Field> rows{
        {.path = "optimizer", .kind = section, .required = true},
        {.path = "optimizer.type",
         .kind = text,
         .required = true,
         .any_case = true,
         .choices = {"Adam", "AdamW"},
         .store =
             [](Draft& draft, const Value& value) {
                 const char last = text_of(value).back();
                 draft.adam_w_type = last == 'w' || last == 'W';
             }},
        idle_flag("optimizer.legacy_fusion", "it chooses between two implementations of the same optimizer"),
        {.path = "optimizer.params", .kind = section},
    };
    for (auto& row : optimizer_params()) rows.push_back(row);
    rows.push_back({.path = "scheduler", .kind = section, .nullable = true});
    rows.push_back({.path = "scheduler.type",
                    .kind = text,
                    .required = true,
                    .choices = {"WarmupLR", "WarmupDecayLR"},
                    .store = [](Draft& draft, const Value& value) {
                        draft.config.scheduler.type =
                            text_of(value) == "WarmupLR" ? Scheduler::warmup_lr : Scheduler::warmup_decay_lr;
                    }});
    rows.push_back({.path = "scheduler.params", .kind = section});
    for (auto& row : scheduler_params()) rows.push_back(row);
    return rows;
}

}  // namespace pinwarden::zero
