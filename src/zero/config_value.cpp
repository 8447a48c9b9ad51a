// SPDX-License-Identifier: Apache-2.0
#include "zero/config_value.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace pinwarden::zero {
namespace {

constexpr std::size_t longest_quote = 60;

// Beyond this, doubles skip whole numbers, so that one read from text need not be the one that was written.
constexpr double largest_whole = 9007199254740992.0;

struct Describe {
    std::string operator()(std::nullptr_t) const { return "null"; }
    std::string operator()(bool value) const { return value ? "true" : "false"; }
    std::string operator()(std::int64_t value) const { return fmt::format("{}", value); }
    std::string operator()(double value) const { return format_number(value); }
    std::string operator()(const std::string& value) const { return quote(value) + " (a string)"; }
    std::string operator()(const Value::Array& value) const {
        return fmt::format("an array of {} element{}", value.size(), value.size() == 1 ? "" : "s");
    }
    std::string operator()(const Value::Object&) const { return "an object"; }
};

}  // namespace

std::optional<double> as_number(const Value& value) {
    if (const auto* const whole = std::get_if<std::int64_t>(&value.data)) return static_cast<double>(*whole);
    if (const auto* const number = std::get_if<double>(&value.data)) return *number;
    return std::nullopt;
}

std::optional<std::int64_t> as_whole(const Value& value) {
    if (const auto* const whole = std::get_if<std::int64_t>(&value.data)) return *whole;
    const auto* const number = std::get_if<double>(&value.data);
    if (number == nullptr || std::abs(*number) > largest_whole || std::trunc(*number) != *number)
        return std::nullopt;
    return static_cast<std::int64_t>(*number);
}

std::string quote(std::string_view text) {
    std::size_t shown = std::min(text.size(), longest_quote);
    // Never half a letter of UTF-8.
    while (shown > 0 && shown < text.size() && (static_cast<unsigned char>(text[shown]) & 0xC0U) == 0x80U)
        --shown;
    std::string quoted = "\"";
    for (const char letter : text.substr(0, shown)) {
        if (static_cast<unsigned char>(letter) < 0x20 || letter == 0x7F)
            quoted += fmt::format("\\x{:02X}", static_cast<unsigned char>(letter));
        else
            quoted += letter;
    }
    return quoted + (shown < text.size() ? "...\"" : "\"");
}

std::string format_number(double number) { return fmt::format("{}", number); }

std::string describe(const Value& value) { return std::visit(Describe{}, value.data); }

}  // namespace pinwarden::zero
