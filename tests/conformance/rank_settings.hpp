// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The engines that the tests over ranks go through: every stage, with its states at home on either side.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <pinwarden/zero/config.hpp>

namespace pinwarden::testing {

struct Setting {
    std::int64_t stage = 1;
    bool optimizer_on_host = false;
    bool parameters_on_host = false;
    std::size_t node = 1;
};

inline const std::vector<Setting> settings{
    {.stage = 1},
    {.stage = 1, .optimizer_on_host = true},
    {.stage = 2},
    {.stage = 2, .optimizer_on_host = true},
    {.stage = 3},
    {.stage = 3, .optimizer_on_host = true},
    {.stage = 3, .optimizer_on_host = true, .parameters_on_host = true},
    {.stage = 3, .node = 2},
    {.stage = 3, .optimizer_on_host = true, .parameters_on_host = true, .node = 2},
};

[[nodiscard]] inline zero::Config config_of(const Setting& setting, std::size_t ranks,
                                            std::size_t micro_batches) {
    zero::Config config;
    config.gradient_accumulation_steps = static_cast<std::int64_t>(micro_batches / ranks);
    config.optimizer.learning_rate = 0.01;
    config.optimizer.weight_decay = 0.01;
    auto& zero = config.zero_optimization;
    zero.stage = setting.stage;
    zero.reduce_bucket_size = 1'000;
    zero.sub_group_size = 700;
    if (setting.optimizer_on_host) {
        zero.offload_optimizer = {.device = zero::OffloadDevice::cpu, .pin_memory = true};
    }
    if (setting.parameters_on_host) {
        zero.offload_param = {.device = zero::OffloadDevice::cpu, .pin_memory = true};
    }
    zero.zero_hpz_partition_size = std::min(setting.node, ranks);
    return config;
}

}  // namespace pinwarden::testing
