// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <pinwarden/backend/selection.hpp>
#include <pinwarden/core/bytes.hpp>

#include "zero/engine_impl.hpp"

namespace pinwarden::zero {
namespace {

void require_valid(const Config& config, const AcceleratorPtr& accelerator, const std::string& engine) {
    const auto& zero = config.zero_optimization;
    const auto refuse = [&](std::string_view what) {
        throw EngineError(fmt::format("engine '{}': {}", engine, what));
    };
    if (accelerator == nullptr) refuse("the accelerator is null; pass make_cpu_accelerator(), for example");
    if (zero.stage != 1 && zero.stage != 2) {
        refuse(fmt::format("zero_optimization.stage is {}; this engine runs stages 1 and 2", zero.stage));
    }
    if (config.gradient_accumulation_steps < 1) {
        refuse(fmt::format("gradient_accumulation_steps is {}; the least is 1",
                           config.gradient_accumulation_steps));
    }
    if (zero.reduce_bucket_size < 1) refuse("zero_optimization.reduce_bucket_size is 0; the least is 1");
    if (zero.sub_group_size < 1) refuse("zero_optimization.sub_group_size is 0; the least is 1");
}

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

void write_zeros(OffloadableState& block) { block.write(std::vector<std::byte>(block.size_bytes())); }

}  // namespace

Engine::Impl::Impl(Config config, AcceleratorPtr accelerator, gsl::span<const ParameterGroup> groups,
                   EngineOptions options, const Site& site)
    : config_(std::move(config)),
      options_(std::move(options)),
      accelerator_(std::move(accelerator)),
      scope_(options_.name),
      optimizer_on_host_(config_.zero_optimization.offload_optimizer.device == OffloadDevice::cpu) {
    require_valid(config_, accelerator_, options_.name);
    if (config_.low_precision == LowPrecision::fp16) scaler_ = LossScaler(config_.fp16);
    if (options_.backend == nullptr) options_.backend = default_backend().backend;
    stream_ = accelerator_->create_stream(options_.name);
    make_groups(groups, site);
    make_buffers(groups, site);
    // What was queued so far fills the states: a device that fails has to fail here.
    stream_->synchronize();
}

void Engine::Impl::make_groups(gsl::span<const ParameterGroup> groups, const Site& site) {
    groups_.reserve(groups.size());
    for (const auto& source : groups) {
        const std::vector<float> values = gather(source, config_.low_precision, options_.name);
        const std::size_t elements = values.size();
        const std::size_t hp_bytes = checked_bytes(elements, sizeof(float));
        const auto make = [&](OffloadState state, std::size_t bytes, std::string_view label) {
            return make_block(state, bytes, source.name, label, site);
        };
        GroupStates group;
        group.name = source.name;
        group.elements = elements;
        group.optimizer = config_.optimizer;
        group.optimizer.weight_decay = source.weight_decay.value_or(config_.optimizer.weight_decay);
        group.optimizer.learning_rate = source.learning_rate.value_or(config_.optimizer.learning_rate);
        group.lp_params = make(OffloadState::lp_params, elements * lp_bytes, "lp_params");
        group.lp_grads = make(OffloadState::lp_grads, elements * lp_bytes, "lp_grads");
        group.hp_params = make(OffloadState::hp_params, hp_bytes, "hp_params");
        group.exp_avg = make(OffloadState::optim_states, hp_bytes, "exp_avg");
        group.exp_avg_sq = make(OffloadState::optim_states, hp_bytes, "exp_avg_sq");

        std::vector<std::byte> low_precision(elements * lp_bytes);
        narrow_scaled(config_.low_precision, values, 1.0F, low_precision);
        group.lp_params.write(low_precision);
        group.hp_params.write(gsl::as_bytes(gsl::span<const float>(values)));
        write_zeros(group.lp_grads);
        write_zeros(group.exp_avg);
        write_zeros(group.exp_avg_sq);
        parameter_count_ += elements;
        groups_.push_back(std::move(group));
    }
    if (parameter_count_ == 0) {
        throw EngineError(
            fmt::format("engine '{}': its {} parameter group(s) hold no element; there is nothing to train",
                        options_.name, groups.size()));
    }
}

void Engine::Impl::make_buffers(gsl::span<const ParameterGroup> groups, const Site& site) {
    std::vector<std::size_t> sizes;
    for (const auto& group : groups) {
        for (const auto& parameter : group.parameters) sizes.push_back(parameter.initial.size());
    }
    buckets_ = make_gradient_buckets(sizes, config_.zero_optimization.reduce_bucket_size);
    std::size_t largest = 0;
    for (const auto& bucket : buckets_) largest = std::max(largest, bucket.size());
    contiguous_grad_buffer_ = make_block(OffloadState::contiguous_grad_buffer, largest * lp_bytes, "",
                                         "contiguous_grad_buffer", site);
    write_zeros(contiguous_grad_buffer_);

    const PinOptions options{
        .pinning = host_pinning(), .backend = options_.backend, .scope = scope_, .label = "host_gradients"};
    host_gradients_ = PinnedScratch<std::byte>(parameter_count_ * lp_bytes, options, site);
    PinOptions lp_options = options;
    lp_options.label = "host_lp_params";
    host_lp_params_ = PinnedScratch<std::byte>(parameter_count_ * lp_bytes, lp_options, site);
    model_parameters_.resize(parameter_count_);
    model_gradients_.resize(parameter_count_);
}

Pinning Engine::Impl::host_pinning() const noexcept {
    return optimizer_on_host_ && config_.zero_optimization.offload_optimizer.pin_memory ? Pinning::pinned
                                                                                        : Pinning::pageable;
}

OffloadableState Engine::Impl::make_block(OffloadState state, std::size_t bytes, std::string_view group,
                                          std::string_view label, const Site& site) const {
    std::string full_label = group.empty() ? std::string(label) : fmt::format("{}/{}", label, group);
    if (home(state) == StateLocation::device) {
        return OffloadableState::on_device(bytes, stream_, std::move(full_label));
    }
    return OffloadableState::on_host(
        bytes, stream_,
        {.pinning = host_pinning(), .backend = options_.backend, .scope = scope_, .label = full_label}, site);
}

}  // namespace pinwarden::zero
