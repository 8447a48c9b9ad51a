// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The one thing that the engine asks of the layer above it, which is in the same library.

#include <cstddef>
#include <memory>

#include <pinwarden/core/site.hpp>
#include <pinwarden/own/pin_options.hpp>
#include <pinwarden/zero/sub_group_stepper.hpp>
#include <pinwarden/zero/super_offload_options.hpp>

namespace pinwarden::zero {

/// SuperOffload for steps of up to `elements` elements: see its constructor. Defined in src/superoffload/.
[[nodiscard]] std::unique_ptr<SubGroupStepper> make_super_offload(std::size_t elements, double fraction,
                                                                  const SuperOffloadOptions& options,
                                                                  const PinOptions& gradients,
                                                                  const Site& site);

}  // namespace pinwarden::zero
