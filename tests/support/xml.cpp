// SPDX-License-Identifier: Apache-2.0
#include "support/xml.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace pinwarden::testing {

namespace {

bool is_xml_character(std::uint32_t code) {
    return code == 0x9 || code == 0xA || code == 0xD || (code >= 0x20 && code <= 0xD7FF) ||
           (code >= 0xE000 && code <= 0xFFFD) || (code >= 0x10000 && code <= 0x10FFFF);
}

void append_utf8(std::string& text, std::uint32_t code) {
    const auto byte = [&text](std::uint32_t value) { text += static_cast<char>(static_cast<unsigned char>(value)); };
    if (code < 0x80) {
        byte(code);
    } else if (code < 0x800) {
        byte(0xC0 | code >> 6);
        byte(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
        byte(0xE0 | code >> 12);
        byte(0x80 | (code >> 6 & 0x3F));
        byte(0x80 | (code & 0x3F));
    } else {
        byte(0xF0 | code >> 18);
        byte(0x80 | (code >> 12 & 0x3F));
        byte(0x80 | (code >> 6 & 0x3F));
        byte(0x80 | (code & 0x3F));
    }
}

class Parser {
public:
    explicit Parser(std::string_view document) : rest_(document), size_(document.size()) {}

    XmlElement document() {
        check_characters();
        skip_between();
        XmlElement root = element();
        skip_between();
        if (!rest_.empty()) fail("something follows the root element");
        return root;
    }

private:
    [[noreturn]] void fail(std::string_view what) const {
        throw std::runtime_error(fmt::format("XML: {} at byte {}", what, size_ - rest_.size()));
    }

    // The whole document is UTF-8, and each of its characters one that XML has.
    void check_characters() const {
        std::string_view left = rest_;
        while (!left.empty()) {
            const auto first = static_cast<unsigned char>(left[0]);
            const std::size_t length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
            std::uint32_t code = length == 1 ? first : first & (0xFFU >> (length + 1));
            constexpr std::array<std::uint32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
            if ((first >= 0x80 && first < 0xC2) || first > 0xF4 || left.size() < length) fail("no UTF-8");
            for (std::size_t index = 1; index < length; ++index) {
                const auto next = static_cast<unsigned char>(left[index]);
                if ((next & 0xC0U) != 0x80U) fail("no UTF-8");
                code = code << 6 | (next & 0x3FU);
            }
            if (code < least[length]) fail("no UTF-8");
            if (!is_xml_character(code)) fail(fmt::format("the character U+{:04X}", code));
            left.remove_prefix(length);
        }
    }

    bool take(std::string_view prefix) {
        if (!rest_.starts_with(prefix)) return false;
        rest_.remove_prefix(prefix.size());
        return true;
    }

    std::string_view take_until(std::string_view end) {
        const auto place = rest_.find(end);
        if (place == std::string_view::npos) fail(fmt::format("'{}' is missing", end));
        const std::string_view taken = rest_.substr(0, place);
        rest_.remove_prefix(place + end.size());
        return taken;
    }

    void skip_space() {
        const auto place = rest_.find_first_not_of(" \t\r\n");
        rest_.remove_prefix(place == std::string_view::npos ? rest_.size() : place);
    }

    // White space, declarations and comments.
    void skip_between() {
        while (true) {
            skip_space();
            if (take("<?")) {
                take_until("?>");
            } else if (take("<!--")) {
                take_until("-->");
            } else {
                return;
            }
        }
    }

    std::string name() {
        constexpr std::string_view letters =
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:.-";
        const auto end = rest_.find_first_not_of(letters);
        if (end == 0 || end == std::string_view::npos) fail("a name is missing");
        const std::string found(rest_.substr(0, end));
        rest_.remove_prefix(end);
        return found;
    }

    std::string unescaped(std::string_view text) const {
        constexpr std::array<std::pair<std::string_view, char>, 5> named{
            {{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}}};
        std::string plain;
        while (!text.empty()) {
            if (text[0] != '&') {
                plain += text[0];
                text.remove_prefix(1);
                continue;
            }
            const auto end = text.find(';');
            if (end == std::string_view::npos) fail("a reference does not end");
            std::string_view reference = text.substr(1, end - 1);
            text.remove_prefix(end + 1);
            if (reference.starts_with('#')) {
                reference.remove_prefix(1);
                const int base = reference.starts_with('x') ? 16 : 10;
                if (base == 16) reference.remove_prefix(1);
                std::uint32_t code = 0;
                const char* const stop = reference.data() + reference.size();
                const auto read = std::from_chars(reference.data(), stop, code, base);
                if (read.ec != std::errc() || read.ptr != stop || !is_xml_character(code)) fail("a bad reference");
                append_utf8(plain, code);
                continue;
            }
            bool known = false;
            for (const auto& [name, letter] : named) {
                if (name != reference) continue;
                plain += letter;
                known = true;
            }
            if (!known) fail("an unknown reference");
        }
        return plain;
    }

    void attribute(XmlElement& of) {
        const std::string key = name();
        if (!take("=")) fail("'=' is missing");
        const char quote = rest_.empty() ? '\0' : rest_[0];
        if (quote != '"' && quote != '\'') fail("a value without quotes");
        rest_.remove_prefix(1);
        std::string value(take_until(std::string_view(&quote, 1)));
        if (value.find('<') != std::string::npos) fail("'<' in a value");
        // A parser normalises the white space that stands there as such.
        for (char& letter : value) {
            if (letter == '\n' || letter == '\t' || letter == '\r') letter = ' ';
        }
        if (!of.attributes.emplace(key, unescaped(value)).second) fail("an attribute stands there twice");
    }

    XmlElement element() {
        if (!take("<")) fail("an element is missing");
        XmlElement made;
        made.name = name();
        while (true) {
            skip_space();
            if (take("/>")) return made;
            if (take(">")) break;
            attribute(made);
        }
        while (!take("</")) {
            if (rest_.empty()) fail(fmt::format("the element '{}' does not end", made.name));
            if (take("<![CDATA[")) {
                made.text += take_until("]]>");
            } else if (take("<!--")) {
                take_until("-->");
            } else if (rest_[0] == '<') {
                made.children.push_back(element());
            } else {
                const std::string_view text = rest_.substr(0, rest_.find('<'));
                if (text.find("]]>") != std::string_view::npos) fail("']]>' in character data");
                made.text += unescaped(text);
                rest_.remove_prefix(text.size());
            }
        }
        if (name() != made.name || (skip_space(), !take(">"))) fail(fmt::format("'{}' is not closed", made.name));
        return made;
    }

    std::string_view rest_;
    std::size_t size_;
};

void collect(const XmlElement& element, std::string_view wanted, std::vector<const XmlElement*>& found) {
    for (const XmlElement& child : element.children) {
        if (child.name == wanted) found.push_back(&child);
        collect(child, wanted, found);
    }
}

}  // namespace

std::string XmlElement::attribute(const std::string& key) const {
    const auto found = attributes.find(key);
    return found == attributes.end() ? std::string() : found->second;
}

std::vector<const XmlElement*> XmlElement::all(std::string_view wanted) const {
    std::vector<const XmlElement*> found;
    collect(*this, wanted, found);
    return found;
}

XmlElement parse_xml(std::string_view document) { return Parser(document).document(); }

}  // namespace pinwarden::testing
