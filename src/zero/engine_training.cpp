// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include <pinwarden/zero/gradient_norm.hpp>
#include <pinwarden/zero/learning_rate.hpp>

#include "zero/byte_view.hpp"
#include "zero/engine_impl.hpp"
#include "zero/recorded_use.hpp"

namespace pinwarden::zero {
namespace {

// Raises a flag for as long as it lives.
class RaisedFlag {
public:
    explicit RaisedFlag(bool& flag) noexcept : flag_(flag) { flag_ = true; }
    RaisedFlag(const RaisedFlag&) = delete;
    RaisedFlag& operator=(const RaisedFlag&) = delete;
    ~RaisedFlag() { flag_ = false; }

private:
    bool& flag_;
};

}  // namespace

double Engine::Impl::backward(const LossFunction& loss) {
    require_usable("backward()");
    require_at_home("backward()",
                    {OffloadState::lp_params, OffloadState::lp_grads, OffloadState::contiguous_grad_buffer});
    if (is_boundary()) {
        throw EngineError(
            fmt::format("engine '{}': all {} micro-batch(es) of a step are accumulated; call step() before "
                        "the next backward()",
                        options_.name, config_.gradient_accumulation_steps));
    }
    flush_lp_params();
    download_lp_params();
    std::fill(model_gradients_.begin(), model_gradients_.end(), 0.0F);
    double value = 0.0;
    {
        const RaisedFlag calling(in_loss_function_);
        value = loss(model_parameters_, model_gradients_);
    }
    accumulate_gradients();
    return value;
}

void Engine::Impl::flush_lp_params() {
    if (!lp_params_on_host_) return;
    const auto source = host_lp_params_.acquire(host_lp_params_.capacity());
    RecordedUse use(host_lp_params_, *stream_);
    std::size_t offset = 0;
    for (auto& group : groups_) {
        const auto destination = group.lp_params.device_bytes();
        if (destination.empty()) continue;
        stream_->copy_to_device(destination.data(), source.data() + offset, destination.size());
        offset += destination.size();
    }
    use.finish();
    lp_params_on_host_ = false;
}

void Engine::Impl::download_lp_params() {
    const auto destination = host_lp_params_.acquire(host_lp_params_.capacity());
    RecordedUse use(host_lp_params_, *stream_);
    std::size_t offset = 0;
    for (auto& group : groups_) {
        const auto source = group.lp_params.device_bytes();
        if (source.empty()) continue;
        stream_->copy_to_host(destination.data() + offset, source.data(), source.size());
        offset += source.size();
    }
    use.finish();
    stream_->synchronize();
    widen_all(config_.low_precision, destination, model_parameters_);
}

void Engine::Impl::accumulate_gradients() {
    const bool last = micro_batches_ + 1 == config_.gradient_accumulation_steps;
    const auto factor =
        static_cast<float>(scaler_.loss_scale() / static_cast<double>(config_.gradient_accumulation_steps));
    const auto gradients = host_gradients_.acquire(host_gradients_.capacity());
    narrow_scaled(config_.low_precision, model_gradients_, factor, gradients);

    Accumulation accumulation;
    accumulation.format = config_.low_precision;
    accumulation.first = micro_batches_ == 0;
    accumulation.through_bucket = config_.zero_optimization.stage == 2;
    accumulation.reduce_sums = config_.zero_optimization.stage == 1 && last;
    accumulation.gradients = gradients;
    accumulation.bucket = contiguous_grad_buffer_.device_bytes();
    for (auto& group : groups_) accumulation.lp_grads.push_back(group.lp_grads.device_bytes());
    accumulation.buckets = buckets_;

    // One piece of work for the whole micro-batch, which runs or does not: no bucket is accumulated alone.
    stream_->launch([work = std::move(accumulation)] { accumulate_micro_batch(work); });
    stream_->synchronize();
    ++micro_batches_;
}

StepResult Engine::Impl::step() {
    require_usable("step()");
    if (micro_batches_ == 0) {
        throw EngineError(
            fmt::format("engine '{}': step() has no gradients; call backward() first", options_.name));
    }
    StepResult result;
    result.loss_scale = scaler_.loss_scale();
    result.learning_rate = scheduled_rate(groups_.front());
    if (!is_boundary()) return result;
    require_at_home("step()", {OffloadState::lp_params, OffloadState::lp_grads, OffloadState::hp_params,
                               OffloadState::optim_states});
    flush_lp_params();
    const auto lp_grads = gradients_for_optimizer();
    const double scaled_norm = measure_gradients(lp_grads);
    result.grad_norm = scaled_norm / scaler_.loss_scale();
    result.overflow = !std::isfinite(scaled_norm);
    if (result.overflow) {
        // Gradients that cannot be used are given up first, so that training may go on after an error too.
        micro_batches_ = 0;
        ++skipped_steps_;
        scaler_.update_scale(true);
        return result;
    }
    OptimizerStep update = plan_step(lp_grads, scaled_norm);
    if (optimizer_on_host_) {
        // From here on nothing may throw: the master parameters change in place.
        run_optimizer_step(update);
        lp_params_on_host_ = true;
    } else {
        stream_->launch([work = std::move(update)] { run_optimizer_step(work); });
        stream_->synchronize();
    }
    micro_batches_ = 0;
    ++global_steps_;
    scaler_.update_scale(false);
    result.applied = true;
    try {
        flush_lp_params();
    } catch (...) {
        // The step is taken and cannot fail any more. The new parameters wait in host_lp_params_, and
        // whatever needs them next tries again and reports the failure if it lasts.
    }
    return result;
}

std::vector<gsl::span<const std::byte>> Engine::Impl::gradients_for_optimizer() {
    std::vector<gsl::span<const std::byte>> lp_grads;
    lp_grads.reserve(groups_.size());
    if (!optimizer_on_host_) {
        for (auto& group : groups_) lp_grads.emplace_back(group.lp_grads.device_bytes());
        return lp_grads;
    }
    const auto host = host_gradients_.acquire(host_gradients_.capacity());
    RecordedUse use(host_gradients_, *stream_);
    std::size_t offset = 0;
    for (auto& group : groups_) {
        const auto source = group.lp_grads.device_bytes();
        if (!source.empty()) stream_->copy_to_host(host.data() + offset, source.data(), source.size());
        lp_grads.emplace_back(host.subspan(offset, source.size()));
        offset += source.size();
    }
    use.finish();
    stream_->synchronize();
    return lp_grads;
}

double Engine::Impl::measure_gradients(const std::vector<gsl::span<const std::byte>>& lp_grads) {
    if (optimizer_on_host_) return gradient_norm(config_.low_precision, lp_grads);
    // Shared, because the work may outlive this call if waiting for it fails.
    const auto norm = std::make_shared<double>(0.0);
    stream_->launch(
        [norm, lp_grads, format = config_.low_precision] { *norm = gradient_norm(format, lp_grads); });
    stream_->synchronize();
    return *norm;
}

OptimizerStep Engine::Impl::plan_step(const std::vector<gsl::span<const std::byte>>& lp_grads,
                                      double scaled_norm) {
    OptimizerStep step;
    step.format = config_.low_precision;
    step.number = global_steps_ + 1;
    step.gradient_factor = static_cast<float>(
        1.0 / combined_scale(scaled_norm, scaler_.loss_scale(), config_.gradient_clipping));
    step.sub_group_size = config_.zero_optimization.sub_group_size;
    step.groups.reserve(groups_.size());
    const auto host_lp_params = host_lp_params_.acquire(host_lp_params_.capacity());
    std::size_t offset = 0;
    for (std::size_t i = 0; i < groups_.size(); ++i) {
        auto& group = groups_[i];
        const auto bytes = [&](OffloadableState& block) {
            return optimizer_on_host_ ? block.host_bytes() : block.device_bytes();
        };
        GroupUpdate update;
        update.options = group.optimizer;
        update.options.learning_rate = scheduled_rate(group);
        update.state = {.hp = view_as<float>(bytes(group.hp_params)),
                        .exp_avg = view_as<float>(bytes(group.exp_avg)),
                        .exp_avg_sq = view_as<float>(bytes(group.exp_avg_sq))};
        update.lp_grads = lp_grads[i];
        update.lp_params = optimizer_on_host_ ? host_lp_params.subspan(offset, group.elements * lp_bytes)
                                              : group.lp_params.device_bytes();
        offset += group.elements * lp_bytes;
        step.groups.push_back(update);
    }
    return step;
}

double Engine::Impl::scheduled_rate(const GroupStates& group) const noexcept {
    return learning_rate(config_.scheduler, group.optimizer.learning_rate, config_.optimizer.learning_rate,
                         global_steps_);
}

}  // namespace pinwarden::zero
