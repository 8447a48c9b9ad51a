// SPDX-License-Identifier: Apache-2.0
#include "zero/config_check.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include <pinwarden/backend/selection.hpp>
#include <pinwarden/core/error.hpp>

#include "zero/config_name.hpp"

namespace pinwarden::zero {
namespace {

bool equal_in_any_case(std::string_view left, std::string_view right) {
    return left.size() == right.size() && name_distance(left, right) == 0;
}

bool names_a_backend(std::string_view name) {
    constexpr std::array names{std::string_view{"backend"}, std::string_view{"pin_backend"},
                               std::string_view{"pin_memory_backend"}, backend_variable};
    return std::any_of(names.begin(), names.end(),
                       [&](auto other) { return equal_in_any_case(name, other); });
}

bool within(const Range& range, double number) {
    return (range.above_least ? number > range.least : number >= range.least) &&
           (range.below_most ? number < range.most : number <= range.most);
}

bool within(const Range& range, const std::optional<double>& number) {
    return number && within(range, *number);
}

bool is_one_of(const Field& field, const std::string& text) {
    return std::any_of(field.choices.begin(), field.choices.end(), [&](std::string_view choice) {
        return field.any_case ? equal_in_any_case(choice, text) : choice == text;
    });
}

bool is_pair(const Field& field, const Value& value) {
    const auto* const array = std::get_if<Value::Array>(&value.data);
    return array != nullptr && array->size() == 2 && within(field.range, as_number((*array)[0])) &&
           within(field.range, as_number((*array)[1]));
}

bool is_of_kind(const Field& field, const Value& value) {
    switch (field.kind) {
        case Kind::section:
        case Kind::switched_off: return std::holds_alternative<Value::Object>(value.data);
        case Kind::boolean: return std::holds_alternative<bool>(value.data);
        case Kind::whole: {
            const auto whole = as_whole(value);
            return whole && within(field.range, static_cast<double>(*whole));
        }
        case Kind::number: return within(field.range, as_number(value));
        case Kind::text: {
            const auto* const text = std::get_if<std::string>(&value.data);
            return text != nullptr && (field.choices.empty() || is_one_of(field, *text));
        }
        case Kind::pair: return is_pair(field, value);
        case Kind::anything: break;
    }
    return true;
}

bool is_the_only_value(const Field& field, const Value& value) {
    if (const auto number = as_number(field.only)) return as_number(value) == number;
    if (const auto* const text = std::get_if<std::string>(&field.only.data)) {
        const auto* const found = std::get_if<std::string>(&value.data);
        return found != nullptr && *found == *text;
    }
    const auto* const found = std::get_if<bool>(&value.data);
    return found != nullptr && *found == truth(field.only);
}

/// A pair that is of the right shape is shown with its numbers, for the numbers are what is wrong then.
std::string describe_found(const Field& field, const Value& value) {
    const auto* const array = std::get_if<Value::Array>(&value.data);
    if (field.kind != Kind::pair || array == nullptr || array->size() != 2) return describe(value);
    return fmt::format("[{}, {}]", describe((*array)[0]), describe((*array)[1]));
}

std::string in_brackets(std::string_view note) { return note.empty() ? "" : fmt::format(" ({})", note); }

class Reader {
public:
    explicit Reader(std::string_view origin) : origin_(origin) {}

    void read_section(const Value::Object& object, std::string_view section) {
        for (const Value& value : object.fields) {
            const std::string path = section.empty() ? value.name : fmt::format("{}.{}", section, value.name);
            read_field(value, path, section);
        }
        require_fields(section);
    }

    Draft take() { return std::move(draft_); }

private:
    [[noreturn]] void refuse(std::string_view path, std::string_view problem) const {
        throw ConfigurationError(fmt::format("{}: {}: {}", origin_, path, problem));
    }

    /// The sentence that every wrong value gets.
    [[noreturn]] void refuse_value(const Field& field, std::string_view path, std::string_view found,
                                   std::string_view valid, std::string_view hint = "") const {
        refuse(path, fmt::format("found {}; valid: {}{}{}", found, valid, hint, in_brackets(field.note)));
    }

    void read_field(const Value& value, const std::string& path, std::string_view section) {
        if (names_a_backend(value.name)) refuse_backend(value, path);
        // A dot in a name must not make it the path of another section's field.
        const bool is_plain = value.name.find('.') == std::string::npos;
        const Field* const field = is_plain ? find_field(path) : nullptr;
        if (field == nullptr) refuse_unknown(value.name, path, section);
        if (field->treatment == FieldTreatment::refused)
            refuse(path, fmt::format("this field is not supported: {}", field->note));
        if (field->nullable && std::holds_alternative<std::nullptr_t>(value.data)) return;
        if (const auto* const text = std::get_if<std::string>(&value.data);
            text != nullptr && *text == "auto")
            refuse(path, fmt::format(
                             "found \"auto\", which the Hugging Face Trainer replaces before DeepSpeed reads "
                             "the file, and nobody does here; write the value itself; valid: {}",
                             valid_values(*field)));
        check_value(*field, value, path);
        draft_.given.insert(path);
        if (field->kind == Kind::section) read_section(std::get<Value::Object>(value.data), path);
        if (field->store != nullptr) field->store(draft_, value);
    }

    void check_value(const Field& field, const Value& value, const std::string& path) const {
        if (field.treatment == FieldTreatment::fixed && field.kind != Kind::switched_off) {
            if (!is_the_only_value(field, value))
                refuse_value(field, path, describe(value), describe(field.only));
            return;
        }
        if (!is_of_kind(field, value))
            refuse_value(field, path, describe_found(field, value), valid_values(field), hint(field, value));
        if (field.kind == Kind::switched_off)
            check_switched_off(field, std::get<Value::Object>(value.data), path);
    }

    void check_switched_off(const Field& field, const Value::Object& object, const std::string& path) const {
        for (const Value& value : object.fields) {
            if (value.name != "enabled") continue;
            const auto* const enabled = std::get_if<bool>(&value.data);
            if (enabled == nullptr || *enabled)
                refuse_value(field, path + ".enabled", describe(value), "false");
        }
    }

    static std::string hint(const Field& field, const Value& value) {
        const auto* const text = std::get_if<std::string>(&value.data);
        if (text == nullptr) return {};
        const auto nearest = nearest_name(*text, field.choices);
        return nearest ? fmt::format("; did you mean {}?", quote(*nearest)) : std::string{};
    }

    [[noreturn]] void refuse_backend(const Value& value, const std::string& path) const {
        refuse(path,
               fmt::format(
                   "found {}; how memory is pinned is not set in this file: remove the field and set the "
                   "environment variable {} to native or cuda",
                   describe(value), backend_variable));
    }

    [[noreturn]] void refuse_unknown(const std::string& name, const std::string& path,
                                     std::string_view section) const {
        std::vector<std::string_view> valid;
        std::string names;
        std::string elsewhere;
        for (const Field& row : schema()) {
            const bool is_here = section_of(row.path) == section;
            if (!is_here && name_of(row.path) == name && row.treatment != FieldTreatment::refused)
                elsewhere += fmt::format("{}{}", elsewhere.empty() ? "" : " or ", row.path);
            if (!is_here || row.treatment == FieldTreatment::refused) continue;
            valid.push_back(name_of(row.path));
            names += fmt::format("{}{}", names.empty() ? "" : ", ", name_of(row.path));
        }
        const auto nearest = nearest_name(name, valid);
        std::string suggestion;
        if (nearest)
            suggestion = fmt::format("; did you mean {}?", quote(*nearest));
        else if (!elsewhere.empty())
            suggestion = fmt::format("; it is known as {}", elsewhere);
        refuse(escaped(path),
               fmt::format("unknown field {}{}; valid here: {}", quote(name), suggestion, names));
    }

    /// A path for one line, whatever letters its last name consists of.
    static std::string escaped(const std::string& path) {
        const std::string quoted = quote(path);
        return quoted.substr(1, quoted.size() - 2);
    }

    void require_fields(std::string_view section) const {
        for (const Field& row : schema()) {
            if (!row.required || section_of(row.path) != section || draft_.given.contains(row.path)) continue;
            refuse(row.path, fmt::format("this field is missing; valid: {}{}", valid_values(row),
                                         in_brackets(row.note)));
        }
    }

    std::string_view origin_;
    Draft draft_;
};

}  // namespace

Draft check_fields(const Value& file, std::string_view origin) {
    const auto* const object = std::get_if<Value::Object>(&file.data);
    if (object == nullptr)
        throw ConfigurationError(
            fmt::format("{}: found {}; valid: an object, as in {{\"train_batch_size\": 8, ...}}", origin,
                        describe(file)));
    Reader reader{origin};
    reader.read_section(*object, {});
    return reader.take();
}

}  // namespace pinwarden::zero
