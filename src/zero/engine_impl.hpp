// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The engine itself. All its memory is in handles and containers: destroying the members is all that
/// release takes.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gsl/span>

#include <pinwarden/own/pinned_scratch.hpp>
#include <pinwarden/zero/engine.hpp>
#include <pinwarden/zero/loss_scaler.hpp>

#include "zero/layout.hpp"
#include "zero/parameter_store.hpp"
#include "zero/reduction_progress.hpp"
#include "zero/state_blocks.hpp"

namespace pinwarden::zero {

class Engine::Impl {
public:
    Impl(Config config, AcceleratorPtr accelerator, gsl::span<const ParameterGroup> groups,
         EngineOptions options, const Site& site);
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;
    ~Impl();

    double backward(const LossFunction& loss);
    StepResult step();
    void offload(OffloadStates include, Pinning pinning, bool non_blocking, const Site& site);
    void reload(bool non_blocking);
    [[nodiscard]] std::vector<std::byte> snapshot(OffloadState state);
    void destroy();

    [[nodiscard]] bool is_boundary() const noexcept {
        return micro_batches_ == config_.gradient_accumulation_steps;
    }
    [[nodiscard]] StateLocation location(OffloadState state) const noexcept;
    [[nodiscard]] StateLocation home(OffloadState state) const noexcept;
    [[nodiscard]] bool is_pinned(OffloadState state) const noexcept;
    [[nodiscard]] std::size_t size_bytes(OffloadState state) const noexcept;
    [[nodiscard]] const Config& config() const noexcept { return config_; }
    [[nodiscard]] std::size_t parameter_count() const noexcept { return layout_->elements; }
    [[nodiscard]] std::int64_t global_steps() const noexcept { return global_steps_; }
    [[nodiscard]] std::int64_t skipped_steps() const noexcept { return skipped_steps_; }
    [[nodiscard]] double loss_scale() const noexcept { return scaler_.loss_scale(); }
    [[nodiscard]] audit::ScopeRef scope() const noexcept { return scope_.ref(); }

private:
    // Calls `function` for each of the state's blocks, in the order of snapshot().
    template <typename Function>
    void for_each_block(OffloadState state, Function function) {
        for_each_block_of(*this, state, function);
    }
    template <typename Function>
    void for_each_block(OffloadState state, Function function) const {
        for_each_block_of(*this, state, function);
    }
    template <typename Self, typename Function>
    static void for_each_block_of(Self& self, OffloadState state, Function function);

    // Construction. Configuration is read here, when memory is acquired, and nowhere when it is released.
    [[nodiscard]] PinOptions host_memory(OffloadState state) const;
    void make_states(gsl::span<const ParameterGroup> groups, const Site& site);
    [[nodiscard]] StateBlocks make_state(OffloadState state, std::string_view label,
                                         const std::vector<std::vector<std::byte>>& contents,
                                         const Site& site) const;
    [[nodiscard]] OffloadableState make_block(OffloadState state, std::size_t bytes, std::string label,
                                              const Site& site) const;
    [[nodiscard]] std::optional<SecondaryShards> make_secondary_shards(const Site& site) const;
    void make_buffers(const Site& site);
    [[nodiscard]] std::unique_ptr<SubGroupStepper> make_stepper(const StepperSettings& settings) const;

    // Checks that a call is allowed now.
    void require_usable(std::string_view call) const;
    void require_at_home(std::string_view call, OffloadStates needed) const;

    // Training.
    [[nodiscard]] bool starts_early_now() const noexcept;
    void accumulate_gradients();
    [[nodiscard]] double agreed_norm();
    [[nodiscard]] SubGroupStep plan_step();
    void step_on_device(float gradient_factor);
    void step_on_host(float gradient_factor);
    void start_early(ReductionProgress& progress);
    void take_back_early_step();
    void end_step() noexcept;
    [[nodiscard]] double scheduled_rate(const AdamOptions& group) const noexcept;
    void release_handles() noexcept;

    Config config_;
    EngineOptions options_;
    AcceleratorPtr accelerator_;
    StreamPtr stream_;
    audit::Scope scope_;
    CommunicatorPtr ranks_;
    bool optimizer_on_host_ = false;
    std::shared_ptr<const EngineLayout> layout_ = std::make_shared<EngineLayout>();

    std::vector<std::string> group_names_;
    std::vector<AdamOptions> group_options_;  // with each group's own decay, and its rate before any schedule
    std::optional<ParameterStore> parameters_;
    StateBlocks lp_grads_;
    StateBlocks hp_params_;
    StateBlocks exp_avg_;
    StateBlocks exp_avg_sq_;
    OffloadableState contiguous_grad_buffer_;
    std::unique_ptr<SubGroupStepper> stepper_;  // where the optimizer is on the host

    PinnedScratch<std::byte> model_gradients_staging_;  // gradients on their way from the model
    std::vector<float> model_parameters_;               // what the loss function sees
    std::vector<float> model_gradients_;                // what it fills

    LossScaler scaler_;
    std::int64_t micro_batches_ = 0;  // accumulated since the last step
    std::int64_t global_steps_ = 0;
    std::int64_t skipped_steps_ = 0;
    std::optional<double> scaled_norm_;  // of this step, once the ranks have agreed on it
    bool step_started_ = false;          // by a stepper that starts early
    bool in_loss_function_ = false;
    bool destroyed_ = false;
};

template <typename Self, typename Function>
void Engine::Impl::for_each_block_of(Self& self, OffloadState state, Function function) {
    const auto visit = [&](auto& blocks) {
        for (auto& block : blocks) function(block);
    };
    switch (state) {
        case OffloadState::optim_states:
            for (std::size_t i = 0; i < self.exp_avg_.blocks().size(); ++i) {
                function(self.exp_avg_.blocks()[i]);
                function(self.exp_avg_sq_.blocks()[i]);
            }
            return;
        case OffloadState::hp_params:
            visit(self.hp_params_.blocks());
            return;
        case OffloadState::lp_params:
            if (self.parameters_) visit(self.parameters_->blocks().blocks());
            return;
        case OffloadState::lp_grads:
            visit(self.lp_grads_.blocks());
            return;
        case OffloadState::contiguous_grad_buffer:
            function(self.contiguous_grad_buffer_);
            return;
    }
}

}  // namespace pinwarden::zero
