// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// What the leaky test programs have in common: pins, and places where they outlive a test.

#include <memory>
#include <string_view>
#include <vector>

#include <pinwarden/backend/scripted_backend.hpp>
#include <pinwarden/own/pinned_buffer.hpp>

namespace pinwarden::testing {

using Buffer = PinnedBuffer<int>;

/// A pin of 1024 bytes that needs no privilege; the source line is the caller's.
[[nodiscard]] inline Buffer make_buffer(std::string_view label, const Site& site = Site::current()) {
    static const auto backend = std::make_shared<ScriptedBackend>();
    return Buffer(256, {.backend = backend, .label = label}, site);
}

/// Where a test leaves what it does not destroy; gone at the end of the program.
[[nodiscard]] inline std::vector<Buffer>& attic() {
    static std::vector<Buffer> buffers;
    return buffers;
}

inline void leave(std::string_view label, const Site& site = Site::current()) {
    attic().push_back(make_buffer(label, site));
}

}  // namespace pinwarden::testing
