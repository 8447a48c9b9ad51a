// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The nearest valid name to a misspelt one.

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace pinwarden::zero {

/// How many letters must be inserted, deleted, replaced or swapped with their neighbour to turn one name into
/// the other (Damerau, "A technique for computer detection and correction of spelling errors", CACM 1964),
/// letter case not counted.
[[nodiscard]] std::size_t name_distance(std::string_view left, std::string_view right);

/// The candidate with the smallest distance, if that is at most a third of the name's length.
[[nodiscard]] std::optional<std::string_view> nearest_name(std::string_view name,
                                                           const std::vector<std::string_view>& candidates);

}  // namespace pinwarden::zero
