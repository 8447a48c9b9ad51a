// SPDX-License-Identifier: Apache-2.0
#include <support/json_schema.hpp>

#include <algorithm>
#include <array>
#include <regex>
#include <stdexcept>

#include <nlohmann/json.hpp>

namespace pinwarden::testing {

namespace {

using Json = nlohmann::json;

constexpr std::array<std::string_view, 6> annotations{"$schema", "$id",         "$defs",
                                                      "title",   "description", "examples"};

class Checker {
public:
    explicit Checker(const Json& root) : root_(root) {}

    void check(const Json& schema, const Json& value, const std::string& path) {
        for (const auto& [keyword, rule] : schema.items()) apply(keyword, rule, schema, value, path);
    }

    std::vector<std::string> problems;

private:
    void apply(const std::string& keyword, const Json& rule, const Json& schema, const Json& value,
               const std::string& path) {
        if (std::ranges::find(annotations, keyword) != annotations.end()) return;
        if (keyword == "$ref") return check(referenced(rule.get<std::string>()), value, path);
        if (keyword == "type")
            return require(has_type(value, rule), path, "is not of the type " + rule.dump());
        if (keyword == "const") return require(value == rule, path, "is not " + rule.dump());
        if (keyword == "enum") {
            return require(std::ranges::find(rule, value) != rule.end(), path, "is none of " + rule.dump());
        }
        if (keyword == "minimum") {
            return require(!value.is_number() || value >= rule, path, "is less than " + rule.dump());
        }
        if (keyword == "pattern") {
            const bool fits = !value.is_string() || std::regex_search(value.get<std::string>(),
                                                                      std::regex(rule.get<std::string>()));
            return require(fits, path, "does not match " + rule.dump());
        }
        if (keyword == "required") return check_required(rule, value, path);
        if (keyword == "properties") return check_properties(rule, value, path);
        if (keyword == "additionalProperties" && rule == false) return check_additional(schema, value, path);
        if (keyword == "items") return check_items(rule, value, path);
        throw std::invalid_argument("the schema uses the keyword '" + keyword +
                                    "', which this checker does not know");
    }

    void require(bool holds, const std::string& path, const std::string& text) {
        if (!holds) problems.push_back((path.empty() ? "the document" : path) + " " + text);
    }

    const Json& referenced(const std::string& reference) const {
        if (!reference.starts_with("#/"))
            throw std::invalid_argument("'" + reference + "' is in another document");
        return root_.at(Json::json_pointer(reference.substr(1)));
    }

    static bool has_type(const Json& value, const Json& rule) {
        const auto type = rule.get<std::string>();
        if (type == "integer") return value.is_number_integer();
        if (type == "number") return value.is_number();
        return type == value.type_name();
    }

    void check_required(const Json& rule, const Json& value, const std::string& path) {
        if (!value.is_object()) return;
        for (const auto& name : rule) {
            require(value.contains(name.get<std::string>()), path, "lacks " + name.dump());
        }
    }

    void check_properties(const Json& rule, const Json& value, const std::string& path) {
        if (!value.is_object()) return;
        for (const auto& [name, schema] : rule.items()) {
            if (value.contains(name)) check(schema, value.at(name), path + "/" + name);
        }
    }

    void check_additional(const Json& schema, const Json& value, const std::string& path) {
        if (!value.is_object()) return;
        const Json known = schema.value("properties", Json::object());
        for (const auto& [name, ignored] : value.items()) {
            require(known.contains(name), path, "has the unknown member '" + name + "'");
        }
    }

    void check_items(const Json& rule, const Json& value, const std::string& path) {
        if (!value.is_array()) return;
        for (std::size_t i = 0; i < value.size(); ++i)
            check(rule, value.at(i), path + "/" + std::to_string(i));
    }

    const Json& root_;
};

}  // namespace

std::vector<std::string> schema_problems(std::string_view schema, std::string_view document) {
    const Json root = Json::parse(schema);
    Checker checker(root);
    checker.check(root, Json::parse(document), "");
    return checker.problems;
}

}  // namespace pinwarden::testing
