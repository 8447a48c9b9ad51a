// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The functions that stand in for the CUDA runtime's in a RecordingRuntime.

#include <cstdint>
#include <string>

#include <support/cuda/recording_runtime.hpp>

namespace pinwarden::testing {

/// A table of functions that act on `runtime` until another one is named.
[[nodiscard]] cuda::detail::RuntimeCalls recording_calls(RecordingRuntime& runtime);

/// The number under which an address, stream or event is kept.
template <typename Object>
[[nodiscard]] std::uintptr_t handle_number(Object* object) {
    return reinterpret_cast<std::uintptr_t>(object);
}

/// `what` and the number, for messages.
[[nodiscard]] std::string object_text(const char* what, std::uintptr_t object);

}  // namespace pinwarden::testing
