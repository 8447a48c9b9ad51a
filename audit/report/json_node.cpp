// SPDX-License-Identifier: Apache-2.0
#include "report/json_node.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "report/report_reader.hpp"

namespace pinwarden::audit {
namespace {

// What stands there, short enough for a message.
std::string shown(const JsonNode::Json& json) {
    constexpr std::size_t longest = 60;
    if (json.is_object()) return "an object";
    if (json.is_array()) return "an array";
    const std::string text = json.dump(-1, ' ', true, JsonNode::Json::error_handler_t::replace);
    return text.size() <= longest ? text : text.substr(0, longest) + "…";
}

}  // namespace

std::string no_report_text(const std::string& name, std::string_view problem) {
    return fmt::format(
        "'{}' is no leak report that this program reads: {}; give a file that was written as JSON by "
        "PINWARDEN_REPORT_AT_EXIT, by to_json() or by `pinwarden report`",
        name, problem);
}

std::string JsonNode::path() const {
    if (parent_ == nullptr) return {};
    const std::string parent = parent_->path();
    if (key_.empty()) return fmt::format("{}[{}]", parent, index_);
    return parent.empty() ? std::string(key_) : fmt::format("{}.{}", parent, key_);
}

void JsonNode::refuse(std::string_view wanted) const {
    const std::string where = path();
    throw ReportError(no_report_text(
        name_, where.empty() ? fmt::format("it is {}, not {}", shown(json_), wanted)
                             : fmt::format("'{}' is {}, not {}", where, shown(json_), wanted)));
}

JsonNode JsonNode::at(std::string_view key) const {
    if (!json_.is_object()) refuse("an object");
    const auto found = json_.find(key);
    if (found == json_.end()) {
        const std::string where = path();
        throw ReportError(no_report_text(
            name_, where.empty() ? fmt::format("it lacks the member '{}'", key)
                                 : fmt::format("'{}' lacks the member '{}'", where, key)));
    }
    return {*found, *this, key, 0};
}

void JsonNode::expect_only(std::initializer_list<std::string_view> known) const {
    if (!json_.is_object()) refuse("an object");
    for (const auto& [key, value] : json_.items()) {
        if (std::ranges::find(known, std::string_view(key)) != known.end()) continue;
        const std::string where = path();
        throw ReportError(no_report_text(
            name_, where.empty() ? fmt::format("it has the unknown member {}", shown(key))
                                 : fmt::format("'{}' has the unknown member {}", where, shown(key))));
    }
}

void JsonNode::for_each(const std::function<void(const JsonNode&)>& visit) const {
    if (!json_.is_array()) refuse("an array");
    std::size_t index = 0;
    for (const Json& element : json_) visit(JsonNode(element, *this, {}, index++));
}

std::string JsonNode::text() const {
    if (!json_.is_string()) refuse("a string");
    return json_.get<std::string>();
}

bool JsonNode::boolean() const {
    if (!json_.is_boolean()) refuse("true or false");
    return json_.get<bool>();
}

std::uint64_t JsonNode::count(std::uint64_t least, std::uint64_t most) const {
    const auto wanted = [&] { return fmt::format("a whole number from {} to {}", least, most); };
    if (!json_.is_number_unsigned()) refuse(wanted());
    const auto value = json_.get<std::uint64_t>();
    if (value < least || value > most) refuse(wanted());
    return value;
}

}  // namespace pinwarden::audit
