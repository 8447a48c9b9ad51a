// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/zero/sub_group_stepper.hpp>

namespace pinwarden::zero {

SubGroupStepper::~SubGroupStepper() = default;

}  // namespace pinwarden::zero
