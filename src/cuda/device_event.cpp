// SPDX-License-Identifier: Apache-2.0
#include "cuda/device_event.hpp"

#include <pinwarden/core/release_failure.hpp>

#include <utility>

namespace pinwarden::cuda::detail {

DeviceEvent DeviceEvent::record(const Runtime& runtime, int device, cudaStream_t stream,
                                Outcome& failure) noexcept {
    cudaEvent_t event = nullptr;
    failure = runtime.call_on(device, runtime.calls().event_create, &event, unsigned{cudaEventDisableTiming});
    if (!failure.ok()) return {};
    DeviceEvent made(runtime, device, event);
    failure = runtime.call_on(device, runtime.calls().event_record, event, stream);
    if (!failure.ok()) return {};
    return made;
}

DeviceEvent::DeviceEvent(DeviceEvent&& other) noexcept
    : runtime_(other.runtime_), device_(other.device_), event_(std::exchange(other.event_, nullptr)) {}

DeviceEvent& DeviceEvent::operator=(DeviceEvent&& other) noexcept {
    DeviceEvent taken(std::move(other));
    std::swap(runtime_, taken.runtime_);
    std::swap(device_, taken.device_);
    std::swap(event_, taken.event_);
    return *this;
}

DeviceEvent::~DeviceEvent() {
    if (event_ == nullptr) return;
    const Outcome outcome = runtime_->call_on(device_, runtime_->calls().event_destroy, event_);
    if (outcome.ok() || outcome.unloading()) return;
    report_release_failure({.text = "cudaEventDestroy failed; the event is left to the driver",
                            .code = static_cast<int>(outcome.code)});
}

DeviceEvent::State DeviceEvent::query(Outcome& failure) const noexcept {
    const Outcome outcome = runtime_->call_on(device_, runtime_->calls().event_query, event_);
    if (outcome.ok()) return State::complete;
    if (outcome.unloading()) return State::abandoned;
    if (outcome.code == cudaErrorNotReady) return State::running;
    failure = outcome;
    return State::unknown;
}

}  // namespace pinwarden::cuda::detail
