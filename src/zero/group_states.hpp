// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// One parameter group of an engine: its options and its five blocks of state.

#include <cstddef>
#include <string>

#include <pinwarden/zero/adam.hpp>
#include <pinwarden/zero/offloadable_state.hpp>

namespace pinwarden::zero {

struct GroupStates {
    std::string name;
    std::size_t elements = 0;
    AdamOptions optimizer{};  ///< with the group's own weight decay and its learning rate before any schedule
    OffloadableState lp_params;
    OffloadableState lp_grads;
    OffloadableState hp_params;
    OffloadableState exp_avg;
    OffloadableState exp_avg_sq;
};

}  // namespace pinwarden::zero
