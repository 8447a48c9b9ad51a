// SPDX-License-Identifier: Apache-2.0

// The rows of the schema under `zero_optimization`.

#include "zero/config_rows.hpp"

namespace pinwarden::zero {
namespace {

using enum Kind;
using enum FieldTreatment;

constexpr std::string_view same_sums = "it changes how ranks communicate, not what they compute";
constexpr std::string_view no_nvme = "it tunes offload to NVMe, which the engine does not offer";
constexpr std::string_view gathers = "parameters are gathered one sub-group at a time and released after it";
constexpr std::string_view unquantized = "ranks exchange numbers in the format of the lp params";
constexpr std::string_view no_mics = "the engine does not offer MiCS";
constexpr std::string_view no_modules = "the model is the caller's function, not a tree of modules";
constexpr std::string_view no_checkpoints = "the engine reads and writes no DeepSpeed checkpoints";

std::vector<Field> section_rows() {
    return {
        {.path = "zero_optimization", .kind = section, .required = true},
        {.path = "zero_optimization.stage",
         .kind = whole,
         .required = true,
         .range = {.least = 1, .most = 3},
         .note = "stage 0 partitions nothing; the engine has stages 1, 2 and 3",
         .store = [](Draft& draft,
                     const Value& value) { draft.config.zero_optimization.stage = whole_of(value); }},
        must_be("zero_optimization.contiguous_gradients", {true},
                "gradients always pass through one contiguous buffer, contiguous_grad_buffer"),
        {.path = "zero_optimization.reduce_bucket_size",
         .kind = whole,
         .range = {.least = 1, .most = 1e15},
         .store =
             [](Draft& draft, const Value& value) {
                 draft.config.zero_optimization.reduce_bucket_size =
                     static_cast<std::size_t>(whole_of(value));
             }},
        {.path = "zero_optimization.sub_group_size",
         .kind = whole,
         .range = {.least = 1, .most = 1e15},
         .note = "in stage 3 also what is gathered at a time; results do not depend on it",
         .store =
             [](Draft& draft, const Value& value) {
                 draft.config.zero_optimization.sub_group_size = static_cast<std::size_t>(whole_of(value));
             }},
        {.path = "zero_optimization.overlap_comm",
         .kind = boolean,
         .treatment = no_effect,
         .nullable = true,
         .note = same_sums},
        idle_flag("zero_optimization.reduce_scatter", same_sums),
        idle_flag("zero_optimization.allgather_partitions", same_sums),
        idle_size("zero_optimization.allgather_bucket_size", same_sums),
        idle_flag("zero_optimization.use_multi_rank_bucket_allreduce", same_sums),
        idle_flag("zero_optimization.round_robin_gradients", same_sums),
        idle_flag("zero_optimization.ignore_unused_parameters", "the loss function fills all gradients"),
        idle_flag("zero_optimization.load_from_fp32_weights", no_checkpoints),
        idle_flag("zero_optimization.elastic_checkpoint", no_checkpoints),
        must_be("zero_optimization.legacy_stage1", {false}, "there is one implementation of stage 1"),
    };
}

std::vector<Field> offload_rows() {
    return {
        {.path = "zero_optimization.offload_optimizer", .kind = section, .nullable = true},
        {.path = "zero_optimization.offload_optimizer.device",
         .kind = text,
         .choices = {"none", "cpu"},
         .note = "the engine does not offer offload to NVMe or to other devices",
         .store =
             [](Draft& draft, const Value& value) {
                 const bool cpu = text_of(value) == "cpu";
                 draft.config.zero_optimization.offload_optimizer.device =
                     cpu ? OffloadDevice::cpu : OffloadDevice::none;
             }},
        {.path = "zero_optimization.offload_optimizer.pin_memory",
         .kind = boolean,
         .store =
             [](Draft& draft, const Value& value) {
                 draft.config.zero_optimization.offload_optimizer.pin_memory = truth(value);
             }},
        must_be("zero_optimization.offload_optimizer.ratio", {1.0},
                "the engine offloads all of the states or none"),
        idle_size("zero_optimization.offload_optimizer.buffer_count", no_nvme),
        idle_flag("zero_optimization.offload_optimizer.fast_init", no_nvme),
        idle_flag("zero_optimization.offload_optimizer.pipeline", no_nvme),
        idle_flag("zero_optimization.offload_optimizer.pipeline_read", no_nvme),
        idle_flag("zero_optimization.offload_optimizer.pipeline_write", no_nvme),
        idle_text("zero_optimization.offload_optimizer.nvme_path", {}, no_nvme),
        {.path = "zero_optimization.offload_optimizer.super_offload",
         .kind = boolean,
         .note = "true needs device = cpu: host Adam steps sub-groups while backward still runs",
         .store =
             [](Draft& draft, const Value& value) {
                 draft.config.zero_optimization.offload_optimizer.super_offload = truth(value);
             }},
        {.path = "zero_optimization.offload_optimizer.cpuadam_cores_perc",
         .kind = number,
         .range = {.least = 0, .most = 1, .above_least = true},
         .note = "the share of the cores that host Adam runs on with super_offload",
         .store =
             [](Draft& draft, const Value& value) {
                 draft.config.zero_optimization.offload_optimizer.cpuadam_cores_perc = number_of(value);
             }},
        {.path = "zero_optimization.offload_param", .kind = section, .nullable = true},
        {.path = "zero_optimization.offload_param.device",
         .kind = text,
         .choices = {"none", "cpu"},
         .note = "cpu needs stage 3 and offload_optimizer.device = cpu; the engine does not offer offload to "
                 "NVMe or to other devices",
         .store =
             [](Draft& draft, const Value& value) {
                 const bool cpu = text_of(value) == "cpu";
                 draft.config.zero_optimization.offload_param.device =
                     cpu ? OffloadDevice::cpu : OffloadDevice::none;
             }},
        {.path = "zero_optimization.offload_param.pin_memory",
         .kind = boolean,
         .store =
             [](Draft& draft, const Value& value) {
                 draft.config.zero_optimization.offload_param.pin_memory = truth(value);
             }},
        idle_text("zero_optimization.offload_param.nvme_path", {}, no_nvme),
        idle_size("zero_optimization.offload_param.buffer_count", no_nvme),
        idle_size("zero_optimization.offload_param.buffer_size", no_nvme),
        idle_size("zero_optimization.offload_param.max_in_cpu", no_nvme),
        unsupported("zero_optimization.cpu_offload",
                    R"(write "offload_optimizer": {"device": "cpu"} instead of the old name)"),
        unsupported("zero_optimization.cpu_offload_params",
                    R"(write "offload_param": {"device": "cpu"} instead of the old name)"),
        unsupported("zero_optimization.cpu_offload_param",
                    R"(write "offload_param": {"device": "cpu"} instead of the old name)"),
        unsupported("zero_optimization.cpu_offload_use_pin_memory",
                    R"(write "offload_optimizer": {"pin_memory": true} instead of the old name)"),
    };
}

std::vector<Field> stage_3_rows() {
    return {
        idle_size("zero_optimization.stage3_prefetch_bucket_size", gathers),
        idle_size("zero_optimization.stage3_param_persistence_threshold", gathers),
        idle_size("zero_optimization.stage3_model_persistence_threshold", gathers),
        idle_size("zero_optimization.stage3_max_live_parameters", gathers),
        idle_size("zero_optimization.stage3_max_reuse_distance", gathers),
        idle_size("zero_optimization.stage3_module_granularity_threshold", no_modules),
        idle_flag("zero_optimization.stage3_gather_16bit_weights_on_model_save", no_checkpoints),
        idle_flag("zero_optimization.stage3_gather_fp16_weights_on_model_save", no_checkpoints),
        idle_flag("zero_optimization.stage3_use_all_reduce_for_fetch_params", same_sums),
        idle_flag("zero_optimization.memory_efficient_linear", no_modules),
        idle_flag("zero_optimization.override_module_apply", no_modules),
        idle_flag("zero_optimization.pipeline_loading_checkpoint", no_checkpoints),
        {.path = "zero_optimization.zero_hpz_partition_size",
         .kind = whole,
         .range = {.least = 1, .most = 1'000'000},
         .note = "a divisor of the number of ranks; more than 1 needs stage 3",
         .store =
             [](Draft& draft, const Value& value) {
                 draft.config.zero_optimization.zero_hpz_partition_size =
                     static_cast<std::size_t>(whole_of(value));
             }},
        must_be("zero_optimization.zero_quantized_weights", {false}, unquantized),
        must_be("zero_optimization.zero_quantized_nontrainable_weights", {false}, unquantized),
        must_be("zero_optimization.zero_quantized_gradients", {false}, unquantized),
        must_be("zero_optimization.mics_shard_size", {std::int64_t{-1}}, no_mics),
        must_be("zero_optimization.mics_hierarchical_params_gather", {false}, no_mics),
    };
}

}  // namespace

std::vector<Field> zero_rows() {
    std::vector<Field> rows;
    for (const auto& part : {section_rows(), offload_rows(), stage_3_rows()})
        rows.insert(rows.end(), part.begin(), part.end());
    return rows;
}

}  // namespace pinwarden::zero
