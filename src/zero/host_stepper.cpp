// SPDX-License-Identifier: Apache-2.0
#include "zero/host_stepper.hpp"

#include <utility>

#include "zero/kernels.hpp"
#include "zero/recorded_use.hpp"

namespace pinwarden::zero {
namespace {

PinOptions labelled(PinOptions options, std::string_view label) {
    options.label = label;
    return options;
}

}  // namespace

HostStepper::HostStepper(const StepperSettings& settings)
    : stream_(settings.stream),
      gradients_(settings.gradient_bytes, labelled(settings.memory, "host_gradients"), settings.site) {}

void HostStepper::start(SubGroupStep step) { step_ = std::move(step); }

void HostStepper::gradients_ready(std::size_t) {}

void HostStepper::finish(float gradient_factor) {
    const auto host = gradients_.acquire(gradients_.capacity());
    RecordedUse use(gradients_, *stream_);
    std::size_t offset = 0;
    for (const auto& update : step_.sub_groups) {
        stream_->copy_to_host(host.data() + offset, update.gradients.data(), update.gradients.size());
        offset += update.gradients.size();
    }
    use.finish();
    stream_->synchronize();
    // From here on nothing throws: the master parameters change in place.
    offset = 0;
    for (const auto& update : step_.sub_groups) {
        step_sub_group(step_, update, host.subspan(offset, update.gradients.size()), gradient_factor);
        offset += update.gradients.size();
    }
}

void HostStepper::roll_back() {}

}  // namespace pinwarden::zero
