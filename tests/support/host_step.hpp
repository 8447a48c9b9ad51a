// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Random arrays of an optimizer on the host, their gradients on a device, and the step that they should
/// take.
///
/// ```
/// HostStep step(10'000, 1'500, 7);                // elements, the largest sub-group, seed
/// zero::SuperOffload super(step.settings(), {});
/// const auto expected = step.stepped({.factor = 0.5F});    // by a synchronous step
/// step.speculate(super, {.factor = 0.5F});
/// super.finish(0.5F);
/// REQUIRE(step.arrays() == expected);
/// ```

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <pinwarden/accelerator/accelerator.hpp>
#include <pinwarden/accelerator/device_buffer.hpp>
#include <pinwarden/own/pin_options.hpp>
#include <pinwarden/zero/sub_group_stepper.hpp>

#include <support/faulty_accelerator.hpp>

namespace pinwarden::testing {

/// All that a step changes, as bits: a NaN equals itself, and zeros differ by their sign.
struct HostArrays {
    std::vector<std::uint32_t> hp;
    std::vector<std::uint32_t> exp_avg;
    std::vector<std::uint32_t> exp_avg_sq;
    std::vector<std::uint16_t> lp_params;

    friend bool operator==(const HostArrays&, const HostArrays&) = default;
};

/// What all sub-groups of a step have in common.
struct StepWords {
    std::int64_t number = 1;
    float factor = 1.0F;
    zero::LowPrecision format = zero::LowPrecision::bf16;
};

class HostStep {
public:
    /// Sub-groups of random sizes up to `largest`, and some of no elements among them.
    HostStep(std::size_t elements, std::size_t largest, std::uint32_t seed);

    /// Fills the arrays with random bits: numbers of any size, infinities and NaNs.
    void fill_with_bits();

    /// New random gradients, on the device.
    void make_gradients(zero::LowPrecision format);

    /// What a stepper for this step is made from; its scratch is pageable, unless `memory` says otherwise.
    [[nodiscard]] zero::StepperSettings settings(const PinOptions& memory = {
                                                     .pinning = Pinning::pageable}) const;

    /// Starts the step and hands all sub-groups over, from the first to the last.
    void speculate(zero::SubGroupStepper& stepper, const StepWords& words = {});

    [[nodiscard]] const HostArrays& arrays() const noexcept { return arrays_; }
    [[nodiscard]] HostArrays& arrays() noexcept { return arrays_; }
    [[nodiscard]] std::size_t elements() const noexcept { return arrays_.hp.size(); }
    [[nodiscard]] std::size_t sub_groups() const noexcept { return ends_.size(); }
    [[nodiscard]] FaultyAccelerator& accelerator() noexcept { return *accelerator_; }

    /// What the arrays would be after a step of all elements at once, by the calling thread.
    [[nodiscard]] HostArrays stepped(const StepWords& words) const;

private:
    [[nodiscard]] static zero::SubGroupUpdate update_of(HostArrays& arrays, std::size_t begin,
                                                        std::size_t end);
    [[nodiscard]] zero::SubGroupStep step_of(const StepWords& words);

    std::uint32_t seed_;
    HostArrays arrays_;
    std::vector<std::uint16_t> gradients_;
    std::vector<std::size_t> ends_;
    std::shared_ptr<FaultyAccelerator> accelerator_ = std::make_shared<FaultyAccelerator>();
    StreamPtr stream_ = accelerator_->create_stream("gradients");
    DeviceBuffer<std::byte> device_gradients_;
};

}  // namespace pinwarden::testing
