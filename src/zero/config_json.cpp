// SPDX-License-Identifier: Apache-2.0
#include "zero/config_json.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <pinwarden/core/error.hpp>

namespace pinwarden::zero {
namespace {

using Json = nlohmann::json;

// A configuration has four levels; the limit keeps hostile text from exhausting the stack when values are
// destroyed.
constexpr std::size_t deepest = 32;

constexpr std::size_t longest_reason = 200;

/// Where in the text the `read`-th byte stands, as editors count.
std::string place(std::string_view text, std::size_t read) {
    const std::string_view before = text.substr(0, read == 0 ? 0 : std::min(read - 1, text.size()));
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0, the start of the first line
    return fmt::format("line {}, column {}", line, before.size() - line_start + 1);
}

/// The part of the JSON library's message behind its own name and position.
std::string reason(std::string_view message) {
    const std::size_t name_end = message.find("] ");
    if (name_end != std::string_view::npos) message.remove_prefix(name_end + 2);
    const std::size_t position_end = message.find(": ");
    if (message.starts_with("parse error at") && position_end != std::string_view::npos)
        message.remove_prefix(position_end + 2);
    std::string plain;
    for (const char letter : message.substr(0, longest_reason)) {
        // It quotes the text, which may be of any bytes.
        const bool is_ascii = letter >= 0x20 && letter < 0x7F;
        plain +=
            is_ascii ? std::string{letter} : fmt::format("\\x{:02X}", static_cast<unsigned char>(letter));
    }
    return plain;
}

/// Builds a Value from the JSON library's events. Each event answers whether to go on.
class Builder {
public:
    Builder(std::string_view text, std::string_view origin) : text_(text), origin_(origin) {}

    bool null() { return put(Value{nullptr}); }
    bool boolean(bool value) { return put(Value{value}); }
    bool number_integer(Json::number_integer_t value) { return put(Value{std::int64_t{value}}); }
    bool number_unsigned(Json::number_unsigned_t value) {
        if (std::in_range<std::int64_t>(value)) return put(Value{static_cast<std::int64_t>(value)});
        return put(Value{static_cast<double>(value)});
    }
    bool number_float(Json::number_float_t value, const Json::string_t&) { return put(Value{value}); }
    bool string(Json::string_t& value) { return put(Value{std::move(value)}); }
    bool binary(Json::binary_t&) { return false; }  // not part of JSON text

    bool start_object(std::size_t) { return open(Value{Value::Object{}}); }
    bool start_array(std::size_t) { return open(Value{Value::Array{}}); }
    bool end_object() { return close(); }
    bool end_array() { return close(); }

    bool key(Json::string_t& name) {
        const auto& object = std::get<Value::Object>(stack_.back().value.data);
        const auto same_name = [&](const Value& field) { return field.name == name; };
        if (std::any_of(object.fields.begin(), object.fields.end(), same_name))
            throw ConfigurationError(fmt::format("{}: {}: this field is given twice; keep one of the two",
                                                 origin_, path() + name));
        stack_.back().next_name = std::move(name);
        return true;
    }

    bool parse_error(std::size_t read, const std::string&, const Json::exception& error) {
        throw ConfigurationError(
            fmt::format("{}: {}: not valid JSON: {}; note that trailing commas, comments and NaN "
                        "are not part of JSON",
                        origin_, place(text_, read), reason(error.what())));
    }

    Value take() { return std::move(root_); }

private:
    /// An array or object that is not complete yet.
    struct Open {
        Value value;
        std::string next_name;
    };

    std::string path() const {
        std::string path;
        for (std::size_t level = 0; level + 1 < stack_.size(); ++level) path += stack_[level].next_name + ".";
        return path;
    }

    bool open(Value value) {
        if (stack_.size() == deepest)
            throw ConfigurationError(
                fmt::format("{}: values are nested more than {} levels deep; a configuration "
                            "has four levels at most",
                            origin_, deepest));
        stack_.push_back({std::move(value), {}});
        return true;
    }

    bool close() {
        Value value = std::move(stack_.back().value);
        stack_.pop_back();
        return put(std::move(value));
    }

    bool put(Value value) {
        if (stack_.empty())
            root_ = std::move(value);
        else if (auto* const array = std::get_if<Value::Array>(&stack_.back().value.data))
            array->push_back(std::move(value));
        else
            put_field(stack_.back(), std::move(value));
        return true;
    }

    static void put_field(Open& object, Value value) {
        value.name = std::exchange(object.next_name, {});
        std::get<Value::Object>(object.value.data).fields.push_back(std::move(value));
    }

    std::string_view text_;
    std::string_view origin_;
    std::vector<Open> stack_;
    Value root_;
};

}  // namespace

Value parse_json(std::string_view text, std::string_view origin) {
    Builder builder{text, origin};
    Json::sax_parse(text.begin(), text.end(), &builder);
    return builder.take();
}

}  // namespace pinwarden::zero
