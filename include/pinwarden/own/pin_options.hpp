// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// *Whether* to pin, and for whom: what every handle's constructor takes.

#include <cstdint>
#include <string_view>

#include <pinwarden/audit/scope.hpp>
#include <pinwarden/backend/pin_backend.hpp>

namespace pinwarden {

/// Whether memory is pinned. Comes from a configuration; read when memory is acquired and never when it is released.
enum class Pinning : std::uint8_t {
    pinned,         ///< pins or throws
    pageable,       ///< ordinary memory behind the same handle
    prefer_pinned,  ///< pins if it can, else ordinary memory; `fell_back()` says so
};

/// How a handle acquires its memory; designated initialisers read best: `{.pinning = …, .label = "hp_params"}`.
struct PinOptions {
    Pinning pinning = Pinning::pinned;
    PinBackendPtr backend{};     ///< how to pin; null for default_backend()
    audit::ScopeRef scope{};     ///< the owner that the audit names; a Scope converts to it
    std::string_view label{};    ///< the memory's name in reports; copied
};

}  // namespace pinwarden
