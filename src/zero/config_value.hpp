// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// A JSON value with the order of its fields kept, and the words in which an error speaks of it.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace pinwarden::zero {

/// A JSON value. Whole numbers beyond 64 bits are kept as `double`.
struct Value {
    using Array = std::vector<Value>;
    struct Object {
        std::vector<Value> fields;  ///< each with its name
    };

    std::variant<std::nullptr_t, bool, std::int64_t, double, std::string, Array, Object> data = nullptr;
    std::string name{};  ///< of a field of an object; empty otherwise
};

/// The value as a number, if it is one.
[[nodiscard]] std::optional<double> as_number(const Value& value);
/// The value as a whole number, if it is one; 5e8 is, as in DeepSpeed's own files.
[[nodiscard]] std::optional<std::int64_t> as_whole(const Value& value);

/// Text in quotation marks, fit for one line: control characters are escaped and long text is cut.
[[nodiscard]] std::string quote(std::string_view text);
/// A number in the shortest form that reads back the same.
[[nodiscard]] std::string format_number(double number);
/// A value as an error shows it: `"cpu" (a string)`, `3`, `true`, `an object`.
[[nodiscard]] std::string describe(const Value& value);

}  // namespace pinwarden::zero
