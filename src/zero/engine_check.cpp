// SPDX-License-Identifier: Apache-2.0
#include "zero/engine_check.hpp"

#include <fmt/format.h>

namespace pinwarden::zero {

void require_valid_engine(const Config& config, const EngineOptions& options,
                          const AcceleratorPtr& accelerator, const Communicator& ranks) {
    const auto& zero = config.zero_optimization;
    const auto refuse = [&](std::string_view what) {
        throw EngineError(fmt::format("engine '{}': {}", options.name, what));
    };
    if (accelerator == nullptr) refuse("the accelerator is null; pass make_cpu_accelerator(), for example");
    if (zero.stage < 1 || zero.stage > 3) {
        refuse(fmt::format("zero_optimization.stage is {}; this engine runs stages 1, 2 and 3", zero.stage));
    }
    if (config.gradient_accumulation_steps < 1) {
        refuse(fmt::format("gradient_accumulation_steps is {}; the least is 1",
                           config.gradient_accumulation_steps));
    }
    if (zero.reduce_bucket_size < 1) refuse("zero_optimization.reduce_bucket_size is 0; the least is 1");
    if (zero.sub_group_size < 1) refuse("zero_optimization.sub_group_size is 0; the least is 1");
    const auto& offload = zero.offload_optimizer;
    if (offload.super_offload && offload.device != OffloadDevice::cpu) {
        refuse(
            "zero_optimization.offload_optimizer.super_offload is true and its device is none; SuperOffload "
            "runs "
            "the optimizer on the host, so offload it, or switch super_offload off");
    }
    if (offload.super_offload && !(offload.cpuadam_cores_perc > 0.0 && offload.cpuadam_cores_perc <= 1.0)) {
        refuse(fmt::format(
            "zero_optimization.offload_optimizer.cpuadam_cores_perc is {}; valid: more than 0 and at "
            "most 1",
            offload.cpuadam_cores_perc));
    }
    const bool offloads_parameters = zero.offload_param.device == OffloadDevice::cpu;
    if (offloads_parameters && zero.stage != 3) {
        refuse(
            fmt::format("zero_optimization.offload_param.device is cpu in stage {}; stage 3 alone offloads "
                        "parameters",
                        zero.stage));
    }
    if (offloads_parameters && zero.offload_optimizer.device != OffloadDevice::cpu) {
        refuse(
            "zero_optimization.offload_param.device is cpu and offload_optimizer.device is none; parameters "
            "are updated where the optimizer runs, so offload it as well");
    }
    const std::size_t node = zero.zero_hpz_partition_size;
    if (node == 0) refuse("zero_optimization.zero_hpz_partition_size is 0; the least is 1");
    if (node != 1 && zero.stage != 3) {
        refuse(
            fmt::format("zero_optimization.zero_hpz_partition_size is {} in stage {}; stage 3 alone has "
                        "secondary shards",
                        node, zero.stage));
    }
    if (ranks.size() % node != 0) {
        refuse(
            fmt::format("zero_optimization.zero_hpz_partition_size is {}, which does not divide the {} "
                        "rank(s) into nodes of that many; valid: a divisor of the number of ranks",
                        node, ranks.size()));
    }
}

}  // namespace pinwarden::zero
