// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Where the program is that analyses one file. It alone needs Clang's libraries, so a Pinwarden without it works in
/// all else.

#include <filesystem>

namespace pinwarden::scan {

/// The analyser that belongs to the program `self`: beside it, as a build leaves it, or in `../libexec/pinwarden`
/// from there, as it is installed.
/// @throws UnavailableError that says what to install if it is at neither place.
[[nodiscard]] std::filesystem::path find_analyser(const std::filesystem::path& self);

}  // namespace pinwarden::scan
