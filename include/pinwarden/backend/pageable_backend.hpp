// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Ordinary memory behind the interface of a pin: what `Pinning::pageable` gives. Nothing is locked, nothing counted
/// as a pin; a copy to or from it may block.

#include <pinwarden/backend/pin_backend.hpp>
#include <pinwarden/core/export.hpp>

namespace pinwarden {

/// The process's pageable backend; never destroyed. Thread-safe.
[[nodiscard]] PINWARDEN_API PinBackendPtr pageable_backend() noexcept;

}  // namespace pinwarden
