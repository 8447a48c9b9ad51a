// SPDX-License-Identifier: Apache-2.0

// The rows of the schema outside `zero_optimization`, `optimizer` and `scheduler`.

#include "zero/config_rows.hpp"

namespace pinwarden::zero {
namespace {

using enum Kind;
using enum FieldTreatment;

// Keeps the product of two batch fields, and what is computed from it, within 64 bits.
constexpr Range batch_range{.least = 1, .most = 2147483647};

constexpr std::string_view lp_communication = "ranks exchange numbers in the format of the lp params";
constexpr std::string_view scaled_once =
    "gradients are divided by the number of micro-batches of all ranks at once";
constexpr std::string_view reports_nothing = "the engine prints and measures nothing by itself";
constexpr std::string_view not_offered = "the engine does not offer this";

std::vector<Field> batch_rows() {
    constexpr std::string_view equation =
        "train_batch_size = train_micro_batch_size_per_gpu x gradient_accumulation_steps x number of "
        "processes";
    return {
        {.path = "train_batch_size",
         .kind = whole,
         .range = batch_range,
         .note = equation,
         .store = [](Draft& draft, const Value& value) { draft.train_batch_size = whole_of(value); }},
        {.path = "train_micro_batch_size_per_gpu",
         .kind = whole,
         .range = batch_range,
         .note = equation,
         .store = [](Draft& draft,
                     const Value& value) { draft.train_micro_batch_size_per_gpu = whole_of(value); }},
        {.path = "gradient_accumulation_steps",
         .kind = whole,
         .range = batch_range,
         .note = equation,
         .store = [](Draft& draft,
                     const Value& value) { draft.gradient_accumulation_steps = whole_of(value); }},
        {.path = "gradient_clipping",
         .kind = number,
         .range = {.least = 0, .most = 1e30},
         .note = "0 does not clip",
         .store = [](Draft& draft,
                     const Value& value) { draft.config.gradient_clipping = number_of(value); }},
        {.path = "steps_per_print",
         .kind = whole,
         .nullable = true,
         .range = {.least = 1},
         .note = "for the program around the engine, which reports progress",
         .store = [](Draft& draft, const Value& value) { draft.config.steps_per_print = whole_of(value); }},
    };
}

std::vector<Field> precision_rows() {
    return {
        {.path = "bf16", .kind = section},
        {.path = "bf16.enabled",
         .kind = boolean,
         .store = [](Draft& draft, const Value& value) { draft.bf16_enabled = truth(value); }},
        idle_flag("bf16.immediate_grad_update", "DeepSpeed reads it in its optimizer without ZeRO only"),
        idle_flag("bf16.check_grad_overflow",
                  "gradients are always checked, and a step whose gradients are not finite is skipped"),
        must_be("bf16.bf16_master_weights_and_grads", {false}, "master parameters are fp32"),
        must_be("bf16.bf16_optimizer_states", {false}, "optimizer states are fp32"),
        unsupported("bfloat16", "write bf16, the section's present name"),
        {.path = "fp16", .kind = section},
        {.path = "fp16.enabled",
         .kind = boolean,
         .store = [](Draft& draft, const Value& value) { draft.fp16_enabled = truth(value); }},
        must_be("fp16.auto_cast", {false},
                "inputs belong to the caller's loss function, and the engine cannot cast them"),
        {.path = "fp16.loss_scale",
         .kind = number,
         .range = {.least = 0, .most = 1e38},
         .note = "0 means a dynamic scale",
         .store = [](Draft& draft, const Value& value) { draft.config.fp16.loss_scale = number_of(value); }},
        {.path = "fp16.initial_scale_power",
         .kind = whole,
         .range = {.least = 0, .most = 127},
         .store = [](Draft& draft,
                     const Value& value) { draft.config.fp16.initial_scale_power = whole_of(value); }},
        {.path = "fp16.loss_scale_window",
         .kind = whole,
         .range = {.least = 1},
         .store = [](Draft& draft,
                     const Value& value) { draft.config.fp16.loss_scale_window = whole_of(value); }},
        {.path = "fp16.hysteresis",
         .kind = whole,
         .range = {.least = 1},
         .store = [](Draft& draft, const Value& value) { draft.config.fp16.hysteresis = whole_of(value); }},
        {.path = "fp16.consecutive_hysteresis",
         .kind = boolean,
         .store = [](Draft& draft,
                     const Value& value) { draft.config.fp16.consecutive_hysteresis = truth(value); }},
        {.path = "fp16.min_loss_scale",
         .kind = number,
         .range = {.least = 0, .most = 1e38, .above_least = true},
         .store = [](Draft& draft,
                     const Value& value) { draft.config.fp16.min_loss_scale = number_of(value); }},
        idle_flag("fp16.fused_mode", "it chooses between two implementations of the same optimizer"),
        must_be("fp16.fp16_master_weights_and_grads", {false}, "master parameters are fp32"),
        {.path = "data_types", .kind = section},
        {.path = "data_types.grad_accum_dtype",
         .kind = text,
         .nullable = true,
         .choices = {"bf16", "fp16"},
         .note = "gradients are accumulated in the format of the lp params",
         .store = [](Draft& draft,
                     const Value& value) { draft.grad_accum_dtype = std::get<std::string>(value.data); }},
        must_be_off("amp", "write bf16 or fp16 instead of Apex AMP"),
        must_be_off("torch_autocast", "write bf16 or fp16 instead"),
    };
}

std::vector<Field> communication_rows() {
    return {
        idle_text("communication_data_type", {"bf16", "fp16", "fp32"}, lp_communication),
        idle_text("seq_parallel_comm_data_type", {"bf16", "fp16", "fp32"}, lp_communication),
        must_be("prescale_gradients", {false}, scaled_once),
        must_be("gradient_predivide_factor", {1.0}, scaled_once),
        must_be("disable_allgather", {false}, "parameters are gathered after each step"),
        must_be("sparse_gradients", {false}, "gradients are dense arrays"),
        idle_flag("zero_allow_untested_optimizer",
                  "Adam and AdamW, the only optimizers here, count as tested"),
        idle_flag("zero_force_ds_cpu_optimizer",
                  "the engine has one Adam, which runs on the host and on the accelerator"),
        idle_flag("dataloader_drop_last", "the caller feeds the batches"),
        must_be("wall_clock_breakdown", {false}, reports_nothing),
        must_be("memory_breakdown", {false}, reports_nothing),
        must_be("dump_state", {false}, reports_nothing),
        must_be("graph_harvesting", {false}, not_offered),
    };
}

std::vector<Field> activation_rows() {
    constexpr std::string_view of_the_caller = "activations belong to the caller's loss function";
    const auto off = [&](std::string_view path) { return must_be(path, {false}, of_the_caller); };
    return {
        {.path = "activation_checkpointing", .kind = section},
        off("activation_checkpointing.partition_activations"),
        off("activation_checkpointing.cpu_checkpointing"),
        off("activation_checkpointing.contiguous_memory_optimization"),
        off("activation_checkpointing.synchronize_checkpoint_boundary"),
        off("activation_checkpointing.profile"),
        {.path = "activation_checkpointing.number_checkpoints",
         .kind = whole,
         .treatment = no_effect,
         .nullable = true,
         .range = {.least = 0},
         .note = "contiguous_memory_optimization alone reads it"},
    };
}

std::vector<Field> feature_rows() {
    constexpr std::string_view no_nvme = "it tunes offload to NVMe, which the engine does not offer";
    return {
        {.path = "aio", .kind = section},
        idle_size("aio.block_size", no_nvme),
        idle_size("aio.queue_depth", no_nvme),
        idle_size("aio.thread_count", no_nvme),
        idle_size("aio.intra_op_parallelism", no_nvme),
        idle_flag("aio.single_submit", no_nvme),
        idle_flag("aio.overlap_events", no_nvme),
        idle_flag("aio.use_gds", no_nvme),
        must_be_off("tensorboard", reports_nothing),
        must_be_off("wandb", reports_nothing),
        must_be_off("csv_monitor", reports_nothing),
        must_be_off("comet", reports_nothing),
        must_be_off("comms_logger", reports_nothing),
        must_be_off("flops_profiler", reports_nothing),
        must_be_off("autotuning", not_offered),
        must_be_off("elasticity", not_offered),
        must_be_off("eigenvalue", not_offered),
        must_be_off("progressive_layer_drop", not_offered),
        must_be_off("curriculum_learning", "the caller feeds the batches"),
        must_be_off("data_efficiency", "the caller feeds the batches"),
        must_be_off("nebula", not_offered),
        must_be_off("hybrid_engine", not_offered),
        unsupported("compression_training", not_offered),
        unsupported("sparse_attention", "attention belongs to the caller's loss function"),
        unsupported("checkpoint", not_offered),
        unsupported("pipeline", not_offered),
        unsupported("tensor_parallel", not_offered),
        unsupported("compile", not_offered),
    };
}

}  // namespace

std::vector<Field> general_rows() {
    std::vector<Field> rows;
    for (const auto& part :
         {batch_rows(), precision_rows(), communication_rows(), activation_rows(), feature_rows()})
        rows.insert(rows.end(), part.begin(), part.end());
    return rows;
}

}  // namespace pinwarden::zero
