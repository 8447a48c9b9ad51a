// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// What the tests of engines compare: the content of all states, where they are, and what they pin.

#include <array>
#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

#include <pinwarden/audit/pin_record.hpp>
#include <pinwarden/zero/engine.hpp>

namespace pinwarden::testing {

/// The bytes of all five states, in the order of zero::all_offload_states.
using StateContents = std::array<std::vector<std::byte>, zero::all_offload_states.size()>;

/// The content of all states, wherever they are.
[[nodiscard]] StateContents contents_of(const zero::Engine& engine);

/// Where all states are, in the same order.
[[nodiscard]] std::array<zero::StateLocation, zero::all_offload_states.size()> locations_of(
    const zero::Engine& engine);

/// Bytes of all states that are on the device.
[[nodiscard]] std::size_t device_bytes_of(const zero::Engine& engine);

/// The live pins of one scope.
[[nodiscard]] audit::Tally live_pins_of(std::string_view scope);

/// Bytes that the registry says are locked, whatever the state; blocks in flight that are over are released
/// first.
[[nodiscard]] std::size_t registry_locked_bytes();

/// Waits until `condition` holds, and answers whether it did within ten seconds: for what happens in stream
/// order.
[[nodiscard]] bool eventually(const std::function<bool()>& condition);

}  // namespace pinwarden::testing
