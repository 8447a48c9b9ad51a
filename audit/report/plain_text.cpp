// SPDX-License-Identifier: Apache-2.0
#include "report/plain_text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>

#include <fmt/format.h>

namespace pinwarden::audit {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";
constexpr char32_t no_character = 0xFFFF'FFFF;

struct Decoded {
    char32_t code = no_character;
    std::size_t length = 1;  // bytes read, at least one
};

// One character from the start of `bytes`, which are not empty. The bounds of the second byte are those of the
// well-formed sequences in chapter 3 of the Unicode standard: neither overlong nor a surrogate nor beyond U+10FFFF.
Decoded decode(std::string_view bytes) noexcept {
    const auto byte = [bytes](std::size_t index) { return static_cast<unsigned char>(bytes[index]); };
    const unsigned first = byte(0);
    if (first < 0x80) return {first, 1};
    struct Form {
        unsigned from, to, second_from, second_to;
        std::size_t length;
        unsigned mask;
    };
    static constexpr std::array forms{
        Form{0xC2, 0xDF, 0x80, 0xBF, 2, 0x1F}, Form{0xE0, 0xE0, 0xA0, 0xBF, 3, 0x0F},
        Form{0xE1, 0xEC, 0x80, 0xBF, 3, 0x0F}, Form{0xED, 0xED, 0x80, 0x9F, 3, 0x0F},
        Form{0xEE, 0xEF, 0x80, 0xBF, 3, 0x0F}, Form{0xF0, 0xF0, 0x90, 0xBF, 4, 0x07},
        Form{0xF1, 0xF3, 0x80, 0xBF, 4, 0x07}, Form{0xF4, 0xF4, 0x80, 0x8F, 4, 0x07}};
    const auto* const form =
        std::ranges::find_if(forms, [first](const Form& each) { return first >= each.from && first <= each.to; });
    if (form == forms.end() || bytes.size() < form->length) return {};
    if (byte(1) < form->second_from || byte(1) > form->second_to) return {};
    char32_t code = first & form->mask;
    for (std::size_t index = 1; index < form->length; ++index) {
        if ((byte(index) & 0xC0U) != 0x80U) return {};
        code = code << 6U | (byte(index) & 0x3FU);
    }
    return {code, form->length};
}

// Appends to `text` what `spell(code, character)` makes of each character of `bytes`.
template <typename Spell>
std::string respelled(std::string_view bytes, Spell spell) {
    std::string text;
    text.reserve(bytes.size());
    while (!bytes.empty()) {
        const Decoded next = decode(bytes);
        if (next.code == no_character) {
            text += replacement;
        } else {
            spell(text, next.code, bytes.substr(0, next.length));
        }
        bytes.remove_prefix(next.length);
    }
    return text;
}

bool is_in_xml(char32_t code) noexcept {
    return code == 0x9 || code == 0xA || code == 0xD || (code >= 0x20 && code != 0xFFFE && code != 0xFFFF);
}

}  // namespace

std::string printable(std::string_view bytes) {
    std::string text;
    text.reserve(bytes.size());
    for (const char byte : bytes) {
        const auto value = static_cast<unsigned char>(byte);
        if (byte == '\n') {
            text += "\\n";
        } else if (byte == '\t') {
            text += "\\t";
        } else if (value < 0x20 || value == 0x7F) {
            fmt::format_to(std::back_inserter(text), "\\x{:02x}", value);
        } else {
            text += byte;
        }
    }
    return text;
}

std::string valid_utf8(std::string_view bytes) {
    return respelled(bytes, [](std::string& text, char32_t, std::string_view character) { text += character; });
}

std::string xml_escaped(std::string_view bytes) {
    return respelled(bytes, [](std::string& text, char32_t code, std::string_view character) {
        switch (code) {
            case U'&': text += "&amp;"; return;
            case U'<': text += "&lt;"; return;
            case U'>': text += "&gt;"; return;
            case U'"': text += "&quot;"; return;
            case U'\'': text += "&apos;"; return;
            case U'\t': text += "&#9;"; return;
            case U'\n': text += "&#10;"; return;
            case U'\r': text += "&#13;"; return;
            default: text += is_in_xml(code) ? character : replacement;
        }
    });
}

}  // namespace pinwarden::audit
