// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The calls that lead to a pin, as addresses: see pinwarden/audit/stacks.hpp.

#include <vector>

#include <pinwarden/audit/stacks.hpp>

namespace pinwarden::audit {

/// Does what `PINWARDEN_STACKS` asks for; to be called once, before anything is pinned. A value that is no number is
/// told through the release-failure handler, and no stacks are kept.
void read_stack_variable() noexcept;

/// The calls that lead to `caller`, an address that a function on the stack returns to, and that one first. Empty if
/// stacks are not kept, and if there is no memory: a pin does not fail for it.
[[nodiscard]] std::vector<const void*> capture_stack(const void* caller) noexcept;

}  // namespace pinwarden::audit
