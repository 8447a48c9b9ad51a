// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The one thing that the engine asks of the layer above it, which is in the same library.

#include <memory>

#include <pinwarden/zero/sub_group_stepper.hpp>
#include <pinwarden/zero/super_offload_options.hpp>

namespace pinwarden::zero {

/// SuperOffload: see its constructor. Defined in src/superoffload/.
[[nodiscard]] std::unique_ptr<SubGroupStepper> make_super_offload(const StepperSettings& settings,
                                                                  const SuperOffloadOptions& options);

}  // namespace pinwarden::zero
