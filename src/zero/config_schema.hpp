// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The configuration's schema as data: one row for each field that a file may have.
///
/// A further field is a further row in one of the tables config_rows_*.cpp; a further section is a row of
/// Kind::section and rows whose path begins with its own. Only rules that concern several fields at once are
/// code, in config_rules.cpp.

#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gsl/span>

#include <pinwarden/zero/config.hpp>
#include <pinwarden/zero/config_fields.hpp>

#include "zero/config_value.hpp"

namespace pinwarden::zero {

/// A configuration while it is read: what the rows store, and what the rules need to know besides.
struct Draft {
    Config config;
    std::set<std::string, std::less<>> given;  ///< the paths of all fields of the file, nulls excepted
    bool bf16_enabled = false;
    bool fp16_enabled = false;
    bool adam_w_type = false;  ///< `optimizer.type` is AdamW
    bool adam_w_mode = true;   ///< `optimizer.params.adam_w_mode`
    bool torch_adam = false;
    std::string grad_accum_dtype;
    std::optional<std::int64_t> train_batch_size;
    std::optional<std::int64_t> train_micro_batch_size_per_gpu;
    std::optional<std::int64_t> gradient_accumulation_steps;
};

/// What a value must look like.
enum class Kind : std::uint8_t {
    section,  ///< an object, whose fields have rows of their own
    boolean,
    whole,         ///< a whole number within `range`
    number,        ///< a number within `range`
    text,          ///< a string, one of `choices` if there are any
    pair,          ///< an array of two numbers within `range`
    switched_off,  ///< an object whose field `enabled` is false or not there; the rest does not matter then
    anything,      ///< for rows that are refused whatever they say
};

/// The numbers from `least` to `most`.
struct Range {
    double least = std::numeric_limits<double>::lowest();
    double most = std::numeric_limits<double>::max();
    bool above_least = false;  ///< `least` itself is not valid
    bool below_most = false;   ///< `most` itself is not valid
};

/// One row.
struct Field {
    std::string_view path;
    Kind kind = Kind::anything;
    FieldTreatment treatment = FieldTreatment::honoured;
    bool required = false;
    bool nullable = false;  ///< null is valid and means that the field is not given
    bool any_case = false;  ///< letter case in `choices` does not matter
    Range range{};
    std::vector<std::string_view> choices{};
    Value only{};             ///< the one valid value of a fixed field
    std::string_view note{};  ///< appears in errors about the field and in the documentation
    void (*store)(Draft&, const Value&) = nullptr;  ///< called with a valid value
};

// What a valid value of a row says; the value is of the row's kind.
[[nodiscard]] inline bool truth(const Value& value) { return std::get<bool>(value.data); }
[[nodiscard]] inline std::int64_t whole_of(const Value& value) { return as_whole(value).value(); }
[[nodiscard]] inline double number_of(const Value& value) { return as_number(value).value(); }
[[nodiscard]] inline const std::string& text_of(const Value& value) {
    return std::get<std::string>(value.data);
}

/// All rows, in the order of the documentation.
[[nodiscard]] const std::vector<Field>& schema();

/// The row of a path, null if there is none.
[[nodiscard]] const Field* find_field(std::string_view path);
/// The path's part before the last dot, empty at the top.
[[nodiscard]] std::string_view section_of(std::string_view path);
/// The path's part after the last dot.
[[nodiscard]] std::string_view name_of(std::string_view path);
/// The valid values of a row, in words.
[[nodiscard]] std::string valid_values(const Field& field);

}  // namespace pinwarden::zero
