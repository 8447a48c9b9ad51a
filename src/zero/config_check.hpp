// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The two halves of reading a configuration: each field by itself, then what fields say together.

#include <cstddef>
#include <string_view>

#include "zero/config_schema.hpp"

namespace pinwarden::zero {

/// Checks each field of a file against the schema and stores what it says.
/// @throws ConfigurationError for the first field, in the order of the file, that is not valid.
[[nodiscard]] Draft check_fields(const Value& file, std::string_view origin);

/// Checks the rules that concern several fields, and computes what the file leaves open for so many ranks.
/// @throws ConfigurationError
[[nodiscard]] Config apply_rules(Draft draft, std::string_view origin, std::size_t ranks);

}  // namespace pinwarden::zero
