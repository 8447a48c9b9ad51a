// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The numbers of streams, shared by all accelerators of the process.

#include <cstdint>

namespace pinwarden::detail {

/// A number never given before, from one upwards. Thread-safe.
[[nodiscard]] std::uint64_t next_stream_id() noexcept;

}  // namespace pinwarden::detail
