// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/zero/engine.hpp>

#include <utility>

#include "zero/engine_impl.hpp"

namespace pinwarden::zero {

Engine::Engine(Config config, AcceleratorPtr accelerator, gsl::span<const ParameterGroup> groups,
               EngineOptions options, Site site)
    : impl_(std::make_unique<Impl>(std::move(config), std::move(accelerator), groups, std::move(options),
                                   site)) {}

Engine::~Engine() = default;

double Engine::backward(const LossFunction& loss) { return impl_->backward(loss); }

bool Engine::is_gradient_accumulation_boundary() const noexcept { return impl_->is_boundary(); }

StepResult Engine::step() { return impl_->step(); }

void Engine::offload_states(OffloadStates include, Pinning pinning, bool non_blocking, Site site) {
    impl_->offload(include, pinning, non_blocking, site);
}

void Engine::reload_states(bool non_blocking) { impl_->reload(non_blocking); }

StateLocation Engine::location(OffloadState state) const noexcept { return impl_->location(state); }

StateLocation Engine::home(OffloadState state) const noexcept { return impl_->home(state); }

bool Engine::is_pinned(OffloadState state) const noexcept { return impl_->is_pinned(state); }

std::size_t Engine::size_bytes(OffloadState state) const noexcept { return impl_->size_bytes(state); }

std::vector<std::byte> Engine::snapshot(OffloadState state) const { return impl_->snapshot(state); }

void Engine::destroy() { impl_->destroy(); }

const Config& Engine::config() const noexcept { return impl_->config(); }

std::size_t Engine::parameter_count() const noexcept { return impl_->parameter_count(); }

std::int64_t Engine::global_steps() const noexcept { return impl_->global_steps(); }

std::int64_t Engine::skipped_steps() const noexcept { return impl_->skipped_steps(); }

double Engine::loss_scale() const noexcept { return impl_->loss_scale(); }

audit::ScopeRef Engine::scope() const noexcept { return impl_->scope(); }

}  // namespace pinwarden::zero
