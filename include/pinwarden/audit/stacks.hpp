// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Whether the audit keeps the calls that led to each pin. Off unless asked for: the source line of a pin is always
/// known, the way to it costs time and memory.
///
/// The environment variable `PINWARDEN_STACKS=N` asks for the innermost N calls of every pin from the start of the
/// program on; a program may ask for them itself, for a part of its run.
///
/// Cost while on: a walk over the stack for each pin, about a tenth of a microsecond for a call. Only addresses are
/// kept; functions and source lines are looked up when a report is written. Cost while off: one load for each pin.
///
/// ```
/// pinwarden::audit::set_stack_frames(16);
/// ```

#include <cstddef>

#include <pinwarden/core/export.hpp>

namespace pinwarden::audit {

/// The most calls that are kept of one stack.
inline constexpr std::size_t most_stack_frames = 64;

/// Keeps the `innermost` calls of every pin from now on, most_stack_frames at most; none for 0. Thread-safe.
PINWARDEN_API void set_stack_frames(std::size_t innermost) noexcept;

/// How many calls of every pin are kept; 0 for none. Thread-safe.
[[nodiscard]] PINWARDEN_API std::size_t stack_frames() noexcept;

}  // namespace pinwarden::audit
