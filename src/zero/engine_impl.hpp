// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The engine itself. All its memory is in handles and containers: destroying the members is all that
/// release takes.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <gsl/span>

#include <pinwarden/own/pinned_scratch.hpp>
#include <pinwarden/zero/engine.hpp>
#include <pinwarden/zero/loss_scaler.hpp>

#include "zero/gradient_buckets.hpp"
#include "zero/group_states.hpp"
#include "zero/kernels.hpp"

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
    [[nodiscard]] std::size_t parameter_count() const noexcept { return parameter_count_; }
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
    [[nodiscard]] Pinning host_pinning() const noexcept;
    void make_groups(gsl::span<const ParameterGroup> groups, const Site& site);
    void make_buffers(gsl::span<const ParameterGroup> groups, const Site& site);
    [[nodiscard]] OffloadableState make_block(OffloadState state, std::size_t bytes, std::string_view group,
                                              std::string_view label, const Site& site) const;

    // Checks that a call is allowed now.
    void require_usable(std::string_view call) const;
    void require_at_home(std::string_view call, OffloadStates needed) const;

    // Moves the low-precision parameters, which the host computed, to the device. Nothing to do if they are
    // there.
    void flush_lp_params();
    void download_lp_params();
    void accumulate_gradients();
    [[nodiscard]] std::vector<gsl::span<const std::byte>> gradients_for_optimizer();
    [[nodiscard]] double measure_gradients(const std::vector<gsl::span<const std::byte>>& lp_grads);
    [[nodiscard]] OptimizerStep plan_step(const std::vector<gsl::span<const std::byte>>& lp_grads,
                                          double scaled_norm);
    [[nodiscard]] double scheduled_rate(const GroupStates& group) const noexcept;
    void release_handles() noexcept;

    Config config_;
    EngineOptions options_;
    AcceleratorPtr accelerator_;
    StreamPtr stream_;
    audit::Scope scope_;
    bool optimizer_on_host_ = false;

    std::vector<GroupStates> groups_;
    OffloadableState contiguous_grad_buffer_;
    std::vector<GradientBucket> buckets_;
    std::size_t parameter_count_ = 0;

    PinnedScratch<std::byte> host_gradients_;  // gradients on their way to or from the host
    PinnedScratch<std::byte> host_lp_params_;  // low-precision parameters on their way to or from the host
    std::vector<float> model_parameters_;      // what the loss function sees
    std::vector<float> model_gradients_;       // what it fills

    LossScaler scaler_;
    std::int64_t micro_batches_ = 0;  // accumulated since the last step
    std::int64_t global_steps_ = 0;
    std::int64_t skipped_steps_ = 0;
    bool lp_params_on_host_ = false;  // the newest are in host_lp_params_ and not on the device yet
    bool in_loss_function_ = false;
    bool destroyed_ = false;
};

template <typename Self, typename Function>
void Engine::Impl::for_each_block_of(Self& self, OffloadState state, Function function) {
    switch (state) {
        case OffloadState::optim_states:
            for (auto& group : self.groups_) {
                function(group.exp_avg);
                function(group.exp_avg_sq);
            }
            return;
        case OffloadState::hp_params:
            for (auto& group : self.groups_) function(group.hp_params);
            return;
        case OffloadState::lp_params:
            for (auto& group : self.groups_) function(group.lp_params);
            return;
        case OffloadState::lp_grads:
            for (auto& group : self.groups_) function(group.lp_grads);
            return;
        case OffloadState::contiguous_grad_buffer: function(self.contiguous_grad_buffer_); return;
    }
}

}  // namespace pinwarden::zero
