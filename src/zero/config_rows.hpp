// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The tables of rows that the schema consists of, and the rows that they have many of.

#include <string_view>
#include <utility>
#include <vector>

#include "zero/config_schema.hpp"

namespace pinwarden::zero {

/// The rows outside `zero_optimization`, `optimizer` and `scheduler`.
[[nodiscard]] std::vector<Field> general_rows();
/// The rows of `optimizer` and `scheduler`.
[[nodiscard]] std::vector<Field> optimizer_rows();
/// The rows of `zero_optimization`.
[[nodiscard]] std::vector<Field> zero_rows();

/// A field that has one valid value.
[[nodiscard]] inline Field must_be(std::string_view path, Value only, std::string_view note) {
    return {.path = path, .treatment = FieldTreatment::fixed, .only = std::move(only), .note = note};
}

/// A flag that changes nothing.
[[nodiscard]] inline Field idle_flag(std::string_view path, std::string_view note) {
    return {.path = path, .kind = Kind::boolean, .treatment = FieldTreatment::no_effect, .note = note};
}

/// A size or count that changes nothing.
[[nodiscard]] inline Field idle_size(std::string_view path, std::string_view note) {
    return {.path = path,
            .kind = Kind::whole,
            .treatment = FieldTreatment::no_effect,
            .range = {.least = 0},
            .note = note};
}

/// A string that changes nothing.
[[nodiscard]] inline Field idle_text(std::string_view path, std::vector<std::string_view> choices,
                                     std::string_view note) {
    return {.path = path,
            .kind = Kind::text,
            .treatment = FieldTreatment::no_effect,
            .nullable = true,
            .choices = std::move(choices),
            .note = note};
}

/// The section of a feature that must be switched off.
[[nodiscard]] inline Field must_be_off(std::string_view path, std::string_view note) {
    return {.path = path, .kind = Kind::switched_off, .treatment = FieldTreatment::fixed, .note = note};
}

/// A field that must not be there.
[[nodiscard]] inline Field unsupported(std::string_view path, std::string_view note) {
    return {.path = path, .treatment = FieldTreatment::refused, .note = note};
}

}  // namespace pinwarden::zero
