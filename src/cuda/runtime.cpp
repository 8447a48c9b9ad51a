// SPDX-License-Identifier: Apache-2.0
#include "cuda/runtime.hpp"

#include "core/immortal.hpp"

#include <pinwarden/core/release_failure.hpp>

#include <string_view>

#include <fmt/format.h>

namespace pinwarden::cuda::detail {

void Runtime::clear_own(cudaError_t answer, cudaError_t before) const noexcept {
    // An error that is pending since before the call, even one of the same kind, is somebody else's. Where
    // the call has overwritten it, it is lost: the runtime remembers one only, and has no way to put one
    // back.
    if (answer != before && calls_.peek_at_last_error() == answer) static_cast<void>(calls_.get_last_error());
}

int Runtime::home_device() const noexcept {
    int home = home_.load(std::memory_order_relaxed);
    if (home >= 0) return home;
    int current = 0;
    if (!call(calls_.get_device, &current).ok()) return 0;  // the call that needs it will answer why
    offer_home(current);
    return home_.load(std::memory_order_relaxed);
}

void Runtime::offer_home(int device) const noexcept {
    int none = -1;
    home_.compare_exchange_strong(none, device, std::memory_order_relaxed);
}

std::string Runtime::describe(const Outcome& outcome) const {
    return fmt::format("{} answered {}", outcome.call, describe_code(outcome.code));
}

std::string Runtime::describe_answer_to(const char* call, const Outcome& outcome) const {
    return std::string_view(call) == outcome.call ? describe_code(outcome.code) : describe(outcome);
}

std::string Runtime::describe_code(cudaError_t code) const {
    if (!is_usable()) {
        return fmt::format("nothing (error {}): the CUDA runtime must not be called, because {}",
                           static_cast<int>(code), gate_.reason());
    }
    return fmt::format("{} ({}): {}", calls_.error_name(code), static_cast<int>(code),
                       calls_.error_string(code));
}

Runtime::Switch::Switch(const Runtime& runtime, int device) noexcept : runtime_(runtime) {
    outcome_ = runtime.call(runtime.calls_.get_device, &previous_);
    if (!outcome_.ok() || previous_ == device) return;
    // Restored even if this fails: a device whose context could not be made may have become current all the
    // same.
    switched_ = true;
    outcome_ = runtime.call(runtime.calls_.set_device, device);
}

Runtime::Switch::~Switch() {
    if (!switched_) return;
    const Outcome restored = runtime_.call(runtime_.calls_.set_device, previous_);
    if (restored.ok() || restored.unloading() || runtime_.reported_restore_.exchange(true)) return;
    ReleaseFailure failure{
        .text = "cudaSetDevice failed: a thread's current CUDA device could not be restored",
        .code = static_cast<int>(restored.code)};
    std::string text;
    try {
        text = fmt::format(
            "cudaSetDevice({}), to restore the thread's current device, answered {}; the thread's own "
            "CUDA calls may go to another device now; choose the devices with CUDA_VISIBLE_DEVICES",
            previous_, runtime_.describe_code(restored.code));
        failure.text = text;
    } catch (...) {  // no memory for a better text
    }
    report_release_failure(failure);
}

UnpinAnswer unpin_answer(const Outcome& outcome) noexcept {
    if (outcome.ok()) return {};
    return {outcome.unloading() ? UnpinStatus::unloading : UnpinStatus::failed, outcome.call,
            static_cast<int>(outcome.code)};
}

Runtime& process_runtime() noexcept {
    static pinwarden::detail::Immortal<Runtime> runtime(runtime_calls(), process_gate());
    return runtime.get();
}

}  // namespace pinwarden::cuda::detail
