// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Where in the source code a pin was made.
///
/// Every constructor that pins takes a trailing `Site site = Site::current()`, so that a leak report names the
/// line that asked for the memory and not a line inside this library.

#include <source_location>

namespace pinwarden {

/// A position in the caller's source code; its strings live as long as the program.
using Site = std::source_location;

}  // namespace pinwarden
