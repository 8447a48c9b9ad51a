// SPDX-License-Identifier: Apache-2.0
#include "cuda/cuda_token.hpp"

#include <pinwarden/accelerator/accelerator.hpp>
#include <pinwarden/core/release_failure.hpp>

#include <algorithm>
#include <thread>
#include <utility>

#include <fmt/format.h>

namespace pinwarden::cuda::detail {

CudaToken::CudaToken(const Runtime& runtime, int device, cudaStream_t stream,
                     std::shared_ptr<StreamIdentity> identity)
    : runtime_(runtime), identity_(std::move(identity)) {
    Outcome failure;
    event_ = DeviceEvent::record(runtime, device, stream, failure);
    if (!event_.is_empty()) return;
    throw AcceleratorError(
        fmt::format("record() on stream '{}' of cuda:{}: {}; wait for the stream before its memory "
                    "is reused",
                    identity_->name, device, runtime.describe(failure)));
}

bool CudaToken::is_complete() const noexcept {
    if (is_complete_.load(std::memory_order_acquire)) return true;
    Outcome failure;
    switch (event_.query(failure)) {
        case DeviceEvent::State::complete: is_complete_.store(true, std::memory_order_release); return true;
        case DeviceEvent::State::running: return false;
        case DeviceEvent::State::abandoned: is_abandoned_.store(true, std::memory_order_release); return true;
        case DeviceEvent::State::unknown: report(failure); return false;
    }
    return false;
}

bool CudaToken::wait_for(std::chrono::nanoseconds timeout) const noexcept {
    using Clock = std::chrono::steady_clock;
    // The runtime's own wait knows no time limit, so the event is asked again and again: at first at once,
    // then after an eighth of the time waited so far, which makes the wait by so much longer at most.
    constexpr std::chrono::nanoseconds shortest = std::chrono::microseconds(5);
    constexpr std::chrono::nanoseconds longest = std::chrono::milliseconds(1);
    const Clock::time_point start = Clock::now();
    while (!is_complete()) {
        const std::chrono::nanoseconds waited = Clock::now() - start;
        if (waited >= timeout) return false;
        std::this_thread::sleep_for(std::min({std::clamp(waited / 8, shortest, longest), timeout - waited}));
    }
    return true;
}

void CudaToken::report(const Outcome& failure) const noexcept {
    if (identity_->reported_query.exchange(true)) return;
    ReleaseFailure report{.text = "an event cannot be queried: the memory its copy uses is kept for good",
                          .code = static_cast<int>(failure.code)};
    std::string text;
    try {
        text = fmt::format(
            "on stream '{}', {}: whether its copies are finished cannot be known, so the memory they "
            "use stays in flight; restart the process",
            identity_->name, runtime_.describe(failure));
        report.text = text;
    } catch (...) {  // no memory for a better text
    }
    report_release_failure(report);
}

}  // namespace pinwarden::cuda::detail
