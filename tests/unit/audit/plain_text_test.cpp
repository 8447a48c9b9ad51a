// SPDX-License-Identifier: Apache-2.0
#include <report/plain_text.hpp>

#include <string>

#include <catch2/catch_test_macros.hpp>

#include <support/xml.hpp>

namespace pinwarden::audit {

namespace {

const std::string unknown = "\xEF\xBF\xBD";

}  // namespace

TEST_CASE("Printable text has no control character left", "[report]") {
    CHECK(printable("plain 'text' \xC3\xA4") == "plain 'text' \xC3\xA4");
    CHECK(printable("a\nb\tc\rd") == "a\\nb\\tc\\x0dd");
    CHECK(printable(std::string_view("\0\x1b[31m\x7f", 7)) == "\\x00\\x1b[31m\\x7f");
    CHECK(printable("").empty());
}

TEST_CASE("Valid UTF-8 stays as it is, to the first and last character of each length", "[report]") {
    for (const char* const text : {"", "a\x7f", "\xC2\x80\xDF\xBF", "\xE0\xA0\x80\xED\x9F\xBF\xEE\x80\x80\xEF\xBF\xBF",
                                   "\xF0\x90\x80\x80\xF4\x8F\xBF\xBF"}) {
        CHECK(valid_utf8(text) == text);
    }
}

TEST_CASE("Every byte that is part of no character becomes U+FFFD", "[report]") {
    CHECK(valid_utf8("a\xFFz") == "a" + unknown + "z");
    CHECK(valid_utf8("\x80") == unknown);
    CHECK(valid_utf8("\xC3") == unknown);
    CHECK(valid_utf8("\xC3(") == unknown + "(");
    CHECK(valid_utf8("\xC0\xAF") == unknown + unknown);           // overlong
    CHECK(valid_utf8("\xE0\x9F\xBF") == unknown + unknown + unknown);
    CHECK(valid_utf8("\xED\xA0\x80") == unknown + unknown + unknown);  // a surrogate
    CHECK(valid_utf8("\xF4\x90\x80\x80") == unknown + unknown + unknown + unknown);
    CHECK(valid_utf8("\xE2\x82") == unknown + unknown);
}

TEST_CASE("Any bytes come through XML as themselves or as U+FFFD", "[report]") {
    CHECK(xml_escaped("<a href=\"x\">&'") == "&lt;a href=&quot;x&quot;&gt;&amp;&apos;");
    CHECK(xml_escaped("\t\n\r") == "&#9;&#10;&#13;");
    CHECK(xml_escaped(std::string_view("\0\x1b", 2)) == unknown + unknown);
    CHECK(xml_escaped("\xEF\xBF\xBE") == unknown);  // U+FFFE
    std::string all;
    for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
    const auto element = testing::parse_xml("<a b=\"" + xml_escaped(all) + "\">" + xml_escaped(all) + "</a>");
    CHECK(element.text == element.attribute("b"));
    CHECK(element.text.find("\t\n") != std::string::npos);
    CHECK(element.text.find("]^_`abc") != std::string::npos);
    CHECK(element.text.ends_with(unknown));
}

}  // namespace pinwarden::audit
