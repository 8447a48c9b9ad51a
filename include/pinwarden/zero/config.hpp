// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// An engine's configuration, read from a DeepSpeed JSON file.
///
/// Each field of a file is honoured, or accepted because it cannot change anything here, or refused: none is
/// ignored. docs/engines-configuration.md lists them all. How to pin is not a matter of configuration: see
/// backend/selection.hpp.
///
///     const zero::Config config = zero::read_config_file("zero2.json");
///     zero::Engine engine{config, accelerator, groups};
///
/// A refusal is a ConfigurationError of one line: the file, the JSON path, what was found, what is valid, and
/// for a misspelt name the nearest valid one; for text that is not JSON, its line and column.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include <pinwarden/core/error.hpp>
#include <pinwarden/core/export.hpp>
#include <pinwarden/zero/adam.hpp>
#include <pinwarden/zero/learning_rate.hpp>
#include <pinwarden/zero/loss_scaler.hpp>
#include <pinwarden/zero/low_precision.hpp>

namespace pinwarden::zero {

/// Where optimizer states and master parameters are at home.
enum class OffloadDevice : std::uint8_t {
    none,  ///< on the accelerator
    cpu,   ///< in host memory, and the optimizer runs there
};

/// The section `zero_optimization.offload_optimizer`.
struct OffloadOptimizerConfig {
    OffloadDevice device = OffloadDevice::none;
    bool pin_memory = false;          ///< whether that host memory is pinned
    bool super_offload = false;       ///< host Adam steps sub-groups while backward still runs
    double cpuadam_cores_perc = 0.8;  ///< with `super_offload`: the share of the cores that it runs on

    [[nodiscard]] friend bool operator==(const OffloadOptimizerConfig&,
                                         const OffloadOptimizerConfig&) noexcept = default;
};

/// The section `zero_optimization.offload_param`, of stage 3.
struct OffloadParamConfig {
    OffloadDevice device = OffloadDevice::none;  ///< where the low-precision parameters are at home
    bool pin_memory = false;                     ///< whether that host memory is pinned

    [[nodiscard]] friend bool operator==(const OffloadParamConfig&,
                                         const OffloadParamConfig&) noexcept = default;
};

/// The section `zero_optimization`.
struct ZeroConfig {
    /// 1: optimizer states are partitioned; 2: gradients as well; 3: parameters as well
    std::int64_t stage = 2;
    OffloadOptimizerConfig offload_optimizer{};
    OffloadParamConfig offload_param{};
    /// ZeRO++ hpZ: ranks of a node that hold the parameters a second time together; 1: none do
    std::size_t zero_hpz_partition_size = 1;
    std::size_t reduce_bucket_size = 500'000'000;  ///< elements in contiguous_grad_buffer, at most
    std::size_t sub_group_size = 1'000'000'000;    ///< elements per piece of an optimizer step

    [[nodiscard]] friend bool operator==(const ZeroConfig&, const ZeroConfig&) noexcept = default;
};

/// A whole configuration. Plain data: an engine may also be given one that was filled in by hand.
struct Config {
    std::int64_t train_batch_size = 1;  ///< micro-batch size times accumulation steps times ranks
    std::int64_t train_micro_batch_size_per_gpu = 1;
    std::int64_t gradient_accumulation_steps = 1;
    LowPrecision low_precision = LowPrecision::bf16;
    LossScaleOptions fp16{};  ///< meaningful if `low_precision` is fp16
    AdamOptions optimizer{};
    SchedulerOptions scheduler{};
    double gradient_clipping = 0.0;  ///< the largest norm of the gradients; 0 does not clip
    ZeroConfig zero_optimization{};
    std::optional<std::int64_t> steps_per_print{};  ///< how often to report; unset: the program decides

    [[nodiscard]] friend bool operator==(const Config&, const Config&) noexcept = default;
};

/// Reads a configuration from text, for as many ranks as train together. `origin` names the text in errors.
/// @throws ConfigurationError
[[nodiscard]] PINWARDEN_API Config read_config_text(std::string_view json, std::string_view origin,
                                                    std::size_t ranks = 1);

/// Reads a configuration from a file.
/// @throws ConfigurationError also for a file that is missing, unreadable, empty or a directory.
[[nodiscard]] PINWARDEN_API Config read_config_file(const std::filesystem::path& path, std::size_t ranks = 1);

}  // namespace pinwarden::zero
