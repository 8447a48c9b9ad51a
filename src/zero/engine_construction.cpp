// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <pinwarden/backend/selection.hpp>
#include <pinwarden/core/bytes.hpp>

#include "zero/engine_check.hpp"
#include "zero/engine_impl.hpp"
#include "zero/host_stepper.hpp"
#include "zero/super_offload_support.hpp"
#include "zero/kernels.hpp"

namespace pinwarden::zero {
namespace {

std::size_t count_elements(const ParameterGroup& group) {
    std::size_t elements = 0;
    for (const auto& parameter : group.parameters) elements += parameter.initial.size();
    return elements;
}

// All parameters of the group, one after the other.
std::vector<float> gather(const ParameterGroup& group, LowPrecision format, const std::string& engine) {
    std::vector<float> values;
    values.reserve(count_elements(group));
    for (const auto& parameter : group.parameters) {
        for (std::size_t i = 0; i < parameter.initial.size(); ++i) {
            const float value = parameter.initial[i];
            const float rounded = format == LowPrecision::bf16 ? Bf16::from_float(value).to_float()
                                                               : Fp16::from_float(value).to_float();
            if (!std::isfinite(rounded)) {
                throw EngineError(
                    fmt::format("engine '{}': element {} of parameter '{}' of group '{}' is {}, which is not "
                                "finite in {}; "
                                "initialise it with a finite value in its range",
                                engine, i, parameter.name, group.name, value, name(format)));
            }
            values.push_back(value);
        }
    }
    return values;
}

// This rank's shard of a group's values.
std::vector<float> shard_of(const std::vector<float>& values, const GroupLayout& group) {
    std::vector<float> shard;
    shard.reserve(group.shard_elements);
    for (const auto& segment : group.segments) {
        const auto first = values.begin() + static_cast<std::ptrdiff_t>(segment.mine_begin - group.begin);
        shard.insert(shard.end(), first, first + static_cast<std::ptrdiff_t>(segment.mine));
    }
    return shard;
}

std::vector<std::byte> bytes_of(const std::vector<float>& values) {
    const auto bytes = gsl::as_bytes(gsl::span<const float>(values));
    return {bytes.begin(), bytes.end()};
}

std::vector<std::byte> narrowed(const std::vector<float>& values, LowPrecision format) {
    std::vector<std::byte> bytes(values.size() * lp_bytes);
    narrow_scaled(format, values, 1.0F, bytes);
    return bytes;
}

void write_zeros(OffloadableState& block) { block.write(std::vector<std::byte>(block.size_bytes())); }

}  // namespace

Engine::Impl::Impl(Config config, AcceleratorPtr accelerator, gsl::span<const ParameterGroup> groups,
                   EngineOptions options, const Site& site)
    : config_(std::move(config)),
      options_(std::move(options)),
      accelerator_(std::move(accelerator)),
      scope_(options_.name),
      ranks_(options_.communicator != nullptr ? std::move(options_.communicator) : single_rank()),
      optimizer_on_host_(config_.zero_optimization.offload_optimizer.device == OffloadDevice::cpu) {
    require_valid_engine(config_, options_, accelerator_, *ranks_);
    if (config_.low_precision == LowPrecision::fp16) scaler_ = LossScaler(config_.fp16);
    if (options_.backend == nullptr) options_.backend = default_backend().backend;
    stream_ = accelerator_->create_stream(options_.name);
    const auto& zero = config_.zero_optimization;
    layout_ = std::make_shared<const EngineLayout>(
        make_layout(groups, {.stage = zero.stage,
                             .sub_group_size = zero.sub_group_size,
                             .reduce_bucket_size = zero.reduce_bucket_size,
                             .ranks = ranks_->size(),
                             .rank = ranks_->rank()}));
    if (layout_->elements == 0) {
        throw EngineError(
            fmt::format("engine '{}': its {} parameter group(s) hold no element; there is nothing to train",
                        options_.name, groups.size()));
    }
    make_states(groups, site);
    make_buffers(site);
    // What was queued so far fills the states: a device that fails has to fail here.
    stream_->synchronize();
}

void Engine::Impl::make_states(gsl::span<const ParameterGroup> groups, const Site& site) {
    const auto& plan = layout_->plan;
    std::vector<std::vector<std::byte>> lp_params;
    std::vector<std::vector<std::byte>> lp_grads;
    std::vector<std::vector<std::byte>> hp_params;
    std::vector<std::vector<std::byte>> moments;
    std::vector<std::vector<float>> all_values;
    for (const auto& source : groups)
        all_values.push_back(gather(source, config_.low_precision, options_.name));
    for (std::size_t i = 0; i < all_values.size(); ++i) {
        auto& values = all_values[i];
        const auto& group = layout_->groups[i];
        const auto& source = groups[i];
        ranks_->broadcast(gsl::as_writable_bytes(gsl::span<float>(values)), 0);
        const std::vector<float> shard = shard_of(values, group);
        lp_params.push_back(narrowed(plan.divides_parameters ? shard : values, config_.low_precision));
        const std::size_t gradients = plan.divides_gradients ? group.shard_elements : group.elements;
        lp_grads.emplace_back(gradients * lp_bytes);
        hp_params.push_back(bytes_of(shard));
        moments.emplace_back(checked_bytes(group.shard_elements, sizeof(float)));
        group_names_.push_back(source.name);
        AdamOptions options = config_.optimizer;
        options.weight_decay = source.weight_decay.value_or(options.weight_decay);
        options.learning_rate = source.learning_rate.value_or(options.learning_rate);
        group_options_.push_back(options);
    }
    const ParameterStore::Settings settings{.stream = stream_,
                                            .layout = layout_,
                                            .ranks = ranks_,
                                            .format = config_.low_precision,
                                            .staging = host_memory(OffloadState::hp_params)};
    parameters_.emplace(settings, make_state(OffloadState::lp_params, "lp_params", lp_params, site),
                        make_secondary_shards(site), site);
    lp_grads_ = make_state(OffloadState::lp_grads, "lp_grads", lp_grads, site);
    hp_params_ = make_state(OffloadState::hp_params, "hp_params", hp_params, site);
    exp_avg_ = make_state(OffloadState::optim_states, "exp_avg", moments, site);
    exp_avg_sq_ = make_state(OffloadState::optim_states, "exp_avg_sq", moments, site);
}

StateBlocks Engine::Impl::make_state(OffloadState state, std::string_view label,
                                     const std::vector<std::vector<std::byte>>& contents,
                                     const Site& site) const {
    StateBlocks blocks;
    if (!layout_->plan.flat_states) {
        for (std::size_t i = 0; i < contents.size(); ++i) {
            auto block =
                make_block(state, contents[i].size(), fmt::format("{}/{}", label, group_names_[i]), site);
            block.write(contents[i]);
            blocks.add(std::move(block), std::vector<std::size_t>{contents[i].size()});
        }
        return blocks;
    }
    std::vector<std::byte> all;
    std::vector<std::size_t> sizes;
    for (const auto& content : contents) {
        all.insert(all.end(), content.begin(), content.end());
        sizes.push_back(content.size());
    }
    auto block = make_block(state, all.size(), fmt::format("{}/flat", label), site);
    block.write(all);
    blocks.add(std::move(block), sizes);
    return blocks;
}

std::optional<SecondaryShards> Engine::Impl::make_secondary_shards(const Site& site) const {
    const auto& zero = config_.zero_optimization;
    const std::size_t node_ranks = zero.zero_hpz_partition_size;
    if (node_ranks == 1) return std::nullopt;
    auto node = ranks_->split(ranks_->rank() / node_ranks);
    auto block = make_block(OffloadState::lp_params, SecondaryShards::size_bytes(*layout_, node_ranks),
                            "secondary_shards", site);
    write_zeros(block);
    return SecondaryShards(*layout_, std::move(node), std::move(block));
}

void Engine::Impl::make_buffers(const Site& site) {
    const std::size_t bucket_bytes = layout_->largest_bucket * lp_bytes;
    if (layout_->plan.keeps_bucket) {
        contiguous_grad_buffer_ =
            make_block(OffloadState::contiguous_grad_buffer, bucket_bytes, "contiguous_grad_buffer", site);
        write_zeros(contiguous_grad_buffer_);
    } else {
        contiguous_grad_buffer_ =
            OffloadableState::transient(bucket_bytes, stream_, "contiguous_grad_buffer");
    }
    PinOptions memory = host_memory(OffloadState::hp_params);
    memory.label = "model_gradients";
    model_gradients_staging_ = PinnedScratch<std::byte>(layout_->elements * lp_bytes, memory, site);
    if (optimizer_on_host_) {
        const StepperSettings settings{.accelerator = accelerator_,
                                       .stream = stream_,
                                       .format = config_.low_precision,
                                       .offload = config_.zero_optimization.offload_optimizer,
                                       .memory = host_memory(OffloadState::hp_params),
                                       .gradient_bytes = layout_->shard_elements * lp_bytes,
                                       .site = site};
        stepper_ = make_stepper(settings);
    }
    model_parameters_.resize(layout_->elements);
    model_gradients_.resize(layout_->elements);
}

std::unique_ptr<SubGroupStepper> Engine::Impl::make_stepper(const StepperSettings& settings) const {
    if (options_.stepper) return options_.stepper(settings);
    if (settings.offload.super_offload) return make_super_offload(settings, options_.super_offload);
    return std::make_unique<HostStepper>(settings);
}

// How host memory is acquired for a state that is at home there, or for what serves that state.
PinOptions Engine::Impl::host_memory(OffloadState state) const {
    const auto& zero = config_.zero_optimization;
    const bool of_parameters = state == OffloadState::lp_params;
    const OffloadDevice device = of_parameters ? zero.offload_param.device : zero.offload_optimizer.device;
    const bool pin = of_parameters ? zero.offload_param.pin_memory : zero.offload_optimizer.pin_memory;
    const bool pinned = device == OffloadDevice::cpu && pin;
    return {.pinning = pinned ? Pinning::pinned : Pinning::pageable,
            .backend = options_.backend,
            .scope = scope_};
}

OffloadableState Engine::Impl::make_block(OffloadState state, std::size_t bytes, std::string label,
                                          const Site& site) const {
    if (home(state) == StateLocation::device) {
        return OffloadableState::on_device(bytes, stream_, std::move(label));
    }
    PinOptions memory = host_memory(state);
    memory.label = label;
    return OffloadableState::on_host(bytes, stream_, memory, site);
}

}  // namespace pinwarden::zero
