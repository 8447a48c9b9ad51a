// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Reads XML as strictly as a test server would: a text that is not well-formed, or holds a character that XML 1.0 does
/// not have, is refused. Known are declarations, comments, elements, attributes, character data, CDATA sections and the
/// references to characters; document types are refused.

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace pinwarden::testing {

struct XmlElement {
    std::string name;
    std::map<std::string, std::string> attributes;
    std::vector<XmlElement> children;
    std::string text;  ///< all character data directly in it

    /// The value of an attribute; empty if it has none of that name.
    [[nodiscard]] std::string attribute(const std::string& key) const;

    /// All elements of that name in it, at any depth, in the order of the document.
    [[nodiscard]] std::vector<const XmlElement*> all(std::string_view wanted) const;
};

/// The root of a document.
/// @throws std::runtime_error that says what is wrong and at which byte.
[[nodiscard]] XmlElement parse_xml(std::string_view document);

}  // namespace pinwarden::testing
