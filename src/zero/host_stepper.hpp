// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The engine's own stepper: fetches all gradients when the factor is known, then steps on the calling
/// thread.

#include <cstddef>

#include <pinwarden/own/pinned_scratch.hpp>
#include <pinwarden/zero/sub_group_stepper.hpp>

namespace pinwarden::zero {

class HostStepper final : public SubGroupStepper {
public:
    /// @throws as PinnedScratch's constructor does.
    explicit HostStepper(const StepperSettings& settings);

    void start(SubGroupStep step) override;
    void gradients_ready(std::size_t sub_group) override;
    void finish(float gradient_factor) override;
    void roll_back() override;

private:
    StreamPtr stream_;
    PinnedScratch<std::byte> gradients_;  // of all sub-groups, one after the other
    SubGroupStep step_;
};

}  // namespace pinwarden::zero
