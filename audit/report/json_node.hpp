// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// A value in a parsed JSON document that knows where it stands, so that what is wrong with it can be said with its
/// path: `'pins[3].bytes' is "many"`.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace pinwarden::audit {

/// A view of one value; its document, its parent and the document's name must outlive it.
class JsonNode {
public:
    using Json = nlohmann::json;

    JsonNode(const Json& document, const std::string& name) : json_(document), name_(name) {}

    /// The member `key` of an object.
    /// @throws ReportError if this is no object or lacks it.
    [[nodiscard]] JsonNode at(std::string_view key) const;

    /// Whether this object has the member `key`.
    [[nodiscard]] bool has(std::string_view key) const { return json_.is_object() && json_.contains(key); }

    /// Checks that this is an object with no other members than `known`.
    /// @throws ReportError
    void expect_only(std::initializer_list<std::string_view> known) const;

    /// Calls `visit` with each element of an array.
    /// @throws ReportError if this is no array.
    void for_each(const std::function<void(const JsonNode&)>& visit) const;

    /// @throws ReportError if this is something else.
    /// @{
    [[nodiscard]] std::string text() const;
    [[nodiscard]] bool boolean() const;
    [[nodiscard]] std::uint64_t count(std::uint64_t least = 0,
                                      std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) const;
    /// @}

    /// @throws ReportError that says where this stands and that it is not `wanted`.
    [[noreturn]] void refuse(std::string_view wanted) const;

private:
    JsonNode(const Json& json, const JsonNode& parent, std::string_view key, std::size_t index)
        : json_(json), name_(parent.name_), parent_(&parent), key_(key), index_(index) {}

    [[nodiscard]] std::string path() const;

    const Json& json_;
    const std::string& name_;
    const JsonNode* parent_ = nullptr;
    std::string_view key_{};  // empty for the elements of an array
    std::size_t index_ = 0;
};

/// `name` is no report because of `problem`: the text of a ReportError, with what to do.
[[nodiscard]] std::string no_report_text(const std::string& name, std::string_view problem);

}  // namespace pinwarden::audit
