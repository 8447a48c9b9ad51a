// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include <pinwarden/zero/gradient_norm.hpp>
#include <pinwarden/zero/learning_rate.hpp>

#include "zero/byte_view.hpp"
#include "zero/engine_impl.hpp"
#include "zero/gradient_reduction.hpp"
#include "zero/kernels.hpp"

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
    std::shared_ptr<void> off_the_steppers_cores;
    if (starts_early_now()) off_the_steppers_cores = stepper_->yield_cores();
    parameters_->fetch(model_parameters_);
    std::fill(model_gradients_.begin(), model_gradients_.end(), 0.0F);
    double value = 0.0;
    {
        const RaisedFlag calling(in_loss_function_);
        value = loss(model_parameters_, model_gradients_);
    }
    accumulate_gradients();
    return value;
}

// Whether the optimizer works along with the micro-batch that comes next.
bool Engine::Impl::starts_early_now() const noexcept {
    return stepper_ != nullptr && stepper_->starts_early() &&
           micro_batches_ + 1 == config_.gradient_accumulation_steps;
}

void Engine::Impl::accumulate_gradients() {
    const bool last = micro_batches_ + 1 == config_.gradient_accumulation_steps;
    // The mean over all micro-batches of a step, those of other ranks included.
    const double micro_batches =
        static_cast<double>(config_.gradient_accumulation_steps) * static_cast<double>(ranks_->size());
    const auto factor = static_cast<float>(scaler_.loss_scale() / micro_batches);
    const auto gradients = model_gradients_staging_.acquire(model_gradients_staging_.capacity());
    narrow_scaled(config_.low_precision, model_gradients_, factor, gradients);

    Accumulation accumulation;
    accumulation.format = config_.low_precision;
    accumulation.first = micro_batches_ == 0;
    accumulation.last = last;
    accumulation.gradients = gradients;
    accumulation.bucket = contiguous_grad_buffer_.device_bytes();
    for (std::size_t i = 0; i < lp_grads_.part_count(); ++i) {
        accumulation.lp_grads.push_back(lp_grads_.part(i));
    }
    accumulation.layout = layout_;
    accumulation.ranks = ranks_;

    std::shared_ptr<ReductionProgress> progress;
    std::shared_ptr<void> end_of_progress;  // owned by the work alone, and gone with it however it ends
    if (starts_early_now()) {
        progress = std::make_shared<ReductionProgress>();
        accumulation.progress = progress;
        end_of_progress = std::shared_ptr<void>(progress.get(), [progress](void*) { progress->finish(); });
    }
    // One piece of work for the whole micro-batch, which runs or does not: no bucket is accumulated alone.
    stream_->launch(
        [work = std::move(accumulation), end = std::move(end_of_progress)] { accumulate_micro_batch(work); });
    if (progress != nullptr) start_early(*progress);
    try {
        stream_->synchronize();
    } catch (...) {
        take_back_early_step();
        throw;
    }
    ++micro_batches_;
}

// Feeds a stepper that works while gradients are still reduced. Whatever fails is taken back: step() does all
// of it again, and reports a failure that lasts.
void Engine::Impl::start_early(ReductionProgress& progress) {
    try {
        stepper_->start(plan_step());
        step_started_ = true;
        for (std::size_t i = 0; i < layout_->sub_groups.size(); ++i) {
            const auto& sub_group = layout_->sub_groups[i];
            if (!progress.wait_for(sub_group.global_begin + sub_group.elements)) return;
            stepper_->gradients_ready(i);
        }
    } catch (...) {
        try {
            take_back_early_step();
        } catch (...) {
            // The stepper knows of it, and refuses its next start.
        }
    }
}

void Engine::Impl::take_back_early_step() {
    if (!step_started_) return;
    stepper_->roll_back();
    step_started_ = false;
}

StepResult Engine::Impl::step() {
    require_usable("step()");
    if (micro_batches_ == 0) {
        throw EngineError(
            fmt::format("engine '{}': step() has no gradients; call backward() first", options_.name));
    }
    StepResult result;
    result.loss_scale = scaler_.loss_scale();
    result.learning_rate = scheduled_rate(group_options_.front());
    if (!is_boundary()) return result;
    require_at_home("step()", {OffloadState::lp_params, OffloadState::lp_grads, OffloadState::hp_params,
                               OffloadState::optim_states});
    parameters_->publish();
    const double scaled_norm = agreed_norm();
    result.grad_norm = scaled_norm / scaler_.loss_scale();
    result.overflow = !std::isfinite(scaled_norm);
    if (result.overflow) {
        take_back_early_step();
        // Gradients that cannot be used are given up first, so that training may go on after an error too.
        end_step();
        ++skipped_steps_;
        scaler_.update_scale(true);
        return result;
    }
    const auto factor = static_cast<float>(
        1.0 / combined_scale(scaled_norm, scaler_.loss_scale(), config_.gradient_clipping));
    if (optimizer_on_host_) {
        step_on_host(factor);
    } else {
        step_on_device(factor);
    }
    end_step();
    ++global_steps_;
    scaler_.update_scale(false);
    result.applied = true;
    try {
        parameters_->publish();
    } catch (...) {
        // The step is taken and cannot fail any more. The new parameters wait where the step wrote them, and
        // whatever needs them next tries again and reports the failure if it lasts.
    }
    return result;
}

// The norm of all ranks' gradients, which all ranks know alike: an overflow on one is an overflow on all.
double Engine::Impl::agreed_norm() {
    if (scaled_norm_) return *scaled_norm_;
    std::vector<gsl::span<const std::byte>> gradients;
    for (const auto& update : plan_step().sub_groups) gradients.push_back(update.gradients);
    // Shared, because the work may outlive this call if waiting for it fails.
    const auto squares = std::make_shared<double>(0.0);
    stream_->launch([squares, gradients = std::move(gradients), format = config_.low_precision] {
        *squares = sum_of_squares(format, gradients);
    });
    stream_->synchronize();
    std::array<double, 1> sum{*squares};
    ranks_->all_reduce(sum, Reduction::sum);
    // Remembered, so that a step that is tried again asks the other ranks no second time.
    scaled_norm_ = std::sqrt(sum[0]);
    return *scaled_norm_;
}

SubGroupStep Engine::Impl::plan_step() {
    SubGroupStep step;
    step.format = config_.low_precision;
    step.number = global_steps_ + 1;
    step.expected_factor = static_cast<float>(1.0 / scaler_.loss_scale());
    step.sub_groups.reserve(layout_->sub_groups.size());
    gsl::span<std::byte> staging;
    if (optimizer_on_host_) staging = parameters_->begin_staging();
    for (const auto& piece : layout_->sub_groups) {
        const auto floats = [&](StateBlocks& state) {
            return view_as<float>(state.part(piece.group)).subspan(piece.begin, piece.elements);
        };
        const std::size_t gradient_begin = layout_->plan.divides_gradients
                                               ? piece.begin
                                               : piece.global_begin - layout_->groups[piece.group].begin;
        SubGroupUpdate update;
        update.options = group_options_[piece.group];
        update.options.learning_rate = scheduled_rate(group_options_[piece.group]);
        update.state = {
            .hp = floats(hp_params_), .exp_avg = floats(exp_avg_), .exp_avg_sq = floats(exp_avg_sq_)};
        update.gradients =
            lp_grads_.part(piece.group).subspan(gradient_begin * lp_bytes, piece.elements * lp_bytes);
        update.lp_params =
            optimizer_on_host_ ? parameters_->staged(staging, piece) : parameters_->on_device(piece);
        step.sub_groups.push_back(update);
    }
    return step;
}

void Engine::Impl::step_on_device(float gradient_factor) {
    stream_->launch([work = plan_step(), gradient_factor] { step_all(work, gradient_factor); });
    stream_->synchronize();
    parameters_->updated_on_device();
}

void Engine::Impl::step_on_host(float gradient_factor) {
    if (!step_started_) {
        stepper_->start(plan_step());
        step_started_ = true;
        try {
            for (std::size_t i = 0; i < layout_->sub_groups.size(); ++i) stepper_->gradients_ready(i);
        } catch (...) {
            take_back_early_step();
            throw;
        }
    }
    // Whatever it throws, the step has not begun, and the next call starts it anew.
    step_started_ = false;
    stepper_->finish(gradient_factor);
    parameters_->updated_on_host();
}

void Engine::Impl::end_step() noexcept {
    micro_batches_ = 0;
    scaled_norm_.reset();
}

double Engine::Impl::scheduled_rate(const AdamOptions& group) const noexcept {
    return learning_rate(config_.scheduler, group.learning_rate, config_.optimizer.learning_rate,
                         global_steps_);
}

}  // namespace pinwarden::zero
