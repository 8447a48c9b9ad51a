// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// One pin, and one frame of its stack, as a line for people: the same in every report.

#include <string>

#include <pinwarden/core/export.hpp>

#include "report/stored_report.hpp"

namespace pinwarden::audit {

/// `file:line: live 'label' of 4096 bytes at 0x…, …`, without control characters.
[[nodiscard]] PINWARDEN_API std::string line_of(const StoredPin& pin);

/// `by function at file:line`, or as much of it as is known.
[[nodiscard]] PINWARDEN_API std::string line_of(const StoredFrame& frame);

}  // namespace pinwarden::audit
