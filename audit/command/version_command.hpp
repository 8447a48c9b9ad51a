// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Which Pinwarden this is.

#include <string>

namespace pinwarden::command {

/// `pinwarden` and the version's three numbers, as `--version` prints it.
[[nodiscard]] std::string version_line();

/// The version's three numbers alone.
[[nodiscard]] std::string version_number();

}  // namespace pinwarden::command
