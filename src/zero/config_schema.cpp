// SPDX-License-Identifier: Apache-2.0
#include "zero/config_schema.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "zero/config_rows.hpp"

namespace pinwarden::zero {
namespace {

std::string range_in_words(const Range& range) {
    const bool has_least = range.least > std::numeric_limits<double>::lowest();
    const bool has_most = range.most < std::numeric_limits<double>::max();
    std::string words;
    if (has_least)
        words =
            fmt::format("{} {}", range.above_least ? "more than" : "at least", format_number(range.least));
    if (has_most)
        words += fmt::format("{}{} {}", has_least ? " and " : "", range.below_most ? "less than" : "at most",
                             format_number(range.most));
    return words;
}

std::string with_range(std::string_view noun, const Range& range) {
    const std::string words = range_in_words(range);
    return words.empty() ? std::string{noun} : fmt::format("{}, {}", noun, words);
}

std::string whole_in_words(const Range& range) {
    if (range.most - range.least == 1)
        return fmt::format("{} or {}", format_number(range.least), format_number(range.most));
    if (range.most - range.least == 2)
        return fmt::format("{}, {} or {}", format_number(range.least), format_number(range.least + 1),
                           format_number(range.most));
    return with_range("a whole number", range);
}

std::string choices_in_words(const std::vector<std::string_view>& choices) {
    std::string words;
    for (std::size_t i = 0; i < choices.size(); ++i) {
        if (i > 0) words += i + 1 == choices.size() ? " or " : ", ";
        words += quote(choices[i]);
    }
    return words;
}

std::string values_in_words(const Field& field) {
    switch (field.kind) {
        case Kind::section:
            return "an object";
        case Kind::boolean:
            return "true or false";
        case Kind::whole:
            return whole_in_words(field.range);
        case Kind::number:
            return with_range("a number", field.range);
        case Kind::text:
            return field.choices.empty() ? "a string" : choices_in_words(field.choices);
        case Kind::pair:
            return with_range("an array of two numbers", field.range);
        case Kind::switched_off:
            return R"({"enabled": false})";
        case Kind::anything:
            break;
    }
    return "nothing";
}

}  // namespace

const std::vector<Field>& schema() {
    static const std::vector<Field> all = [] {
        std::vector<Field> rows;
        for (auto part : {general_rows(), optimizer_rows(), zero_rows()})
            std::move(part.begin(), part.end(), std::back_inserter(rows));
        return rows;
    }();
    return all;
}

const Field* find_field(std::string_view path) {
    const auto& rows = schema();
    const auto found =
        std::find_if(rows.begin(), rows.end(), [&](const Field& row) { return row.path == path; });
    return found == rows.end() ? nullptr : &*found;
}

std::string_view section_of(std::string_view path) {
    const std::size_t dot = path.rfind('.');
    return dot == std::string_view::npos ? std::string_view{} : path.substr(0, dot);
}

std::string_view name_of(std::string_view path) { return path.substr(path.rfind('.') + 1); }

std::string valid_values(const Field& field) {
    const bool only_one = field.treatment == FieldTreatment::fixed && field.kind != Kind::switched_off;
    std::string words = only_one ? describe(field.only) : values_in_words(field);
    if (field.treatment == FieldTreatment::refused) words = "nothing";
    return field.nullable ? words + ", or null" : words;
}

std::vector<ConfigField> config_fields() {
    std::vector<ConfigField> fields;
    for (const Field& row : schema()) {
        fields.push_back(
            {std::string{row.path}, row.treatment, row.required, valid_values(row), std::string{row.note}});
    }
    return fields;
}

}  // namespace pinwarden::zero
