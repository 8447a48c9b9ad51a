// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The configuration that training uses unless it is given one: the text of docs/examples/zero2.json, put
/// into the program when it is built.

#include <string_view>

namespace pinwarden::command {

/// How messages and reports call the default configuration.
inline constexpr std::string_view default_config_origin = "zero2.json (built in)";

/// Its text, a DeepSpeed JSON file.
extern const std::string_view default_config_text;

}  // namespace pinwarden::command
