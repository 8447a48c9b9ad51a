// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <exception>
#include <utility>

#include <fmt/format.h>

#include <pinwarden/core/release_failure.hpp>

#include "zero/engine_impl.hpp"

namespace pinwarden::zero {
namespace {

using Clock = std::chrono::steady_clock;

std::chrono::nanoseconds time_left(Clock::time_point start, std::chrono::nanoseconds deadline) {
    const auto spent = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start);
    return std::max(deadline - spent, std::chrono::nanoseconds(0));
}

}  // namespace

Engine::Impl::~Impl() {
    if (destroyed_) return;
    try {
        destroy();
    } catch (const audit::LeakError& error) {
        report_release_failure({.text = error.what(), .bytes = error.report().counts.locked_bytes()});
    } catch (const std::exception& error) {
        report_release_failure({.text = error.what()});
    } catch (...) {
        report_release_failure(
            {.text = "work on the device of an engine that was destroyed threw no std::exception"});
    }
}

void Engine::Impl::destroy() {
    if (in_loss_function_) require_usable("destroy()");
    destroyed_ = true;
    release_handles();

    const auto start = Clock::now();
    std::exception_ptr failure;
    try {
        // Not synchronize() at once: that would wait for a stuck device without end.
        if (!stream_->record()->wait_for(options_.destroy_deadline)) {
            throw EngineError(fmt::format(
                "engine '{}': work on its stream '{}' has not finished {} ms after destroy(); "
                "its device memory is given back when it has",
                options_.name, stream_->name(),
                std::chrono::duration_cast<std::chrono::milliseconds>(options_.destroy_deadline).count()));
        }
        stream_->synchronize();
    } catch (...) {
        failure = std::current_exception();
    }
    auto report = scope_.close(time_left(start, options_.destroy_deadline));
    if (!report.is_clean()) throw audit::LeakError(std::move(report));
    if (failure != nullptr) std::rethrow_exception(failure);
}

void Engine::Impl::release_handles() noexcept {
    stepper_.reset();  // first: it may be working on the states
    parameters_.reset();
    lp_grads_.clear();
    hp_params_.clear();
    exp_avg_.clear();
    exp_avg_sq_.clear();
    contiguous_grad_buffer_ = OffloadableState();
    model_gradients_staging_.reset();
    ranks_.reset();  // so that the others do not wait for this rank
}

}  // namespace pinwarden::zero
