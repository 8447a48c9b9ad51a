// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// JSON text to Value, stricter than most readers: a name given twice is an error.

#include <string_view>

#include "zero/config_value.hpp"

namespace pinwarden::zero {

/// @param origin names the text in errors
/// @throws ConfigurationError for text that is not one JSON value, with line and column; for a name given
/// twice in an object, with its path; and for values nested too deep.
[[nodiscard]] Value parse_json(std::string_view text, std::string_view origin);

}  // namespace pinwarden::zero
