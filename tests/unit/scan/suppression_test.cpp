// SPDX-License-Identifier: Apache-2.0
#include "scan/driver/suppression.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace pinwarden::scan;
using Lines = std::vector<std::string>;

TEST_CASE("A comment allows the rules it names, on its own line") {
    const Lines lines = {"pin();  // pinwarden: allow(leak, double-pin) on purpose", "pin();"};
    CHECK(is_suppressed(lines, 1, "leak"));
    CHECK(is_suppressed(lines, 1, "double-pin"));
    CHECK_FALSE(is_suppressed(lines, 1, "double-release"));
    CHECK_FALSE(is_suppressed(lines, 2, "leak"));
    CHECK(is_suppressed({"pin(); /* pinwarden: allow(*) for the whole run */"}, 1, "leak"));
}

TEST_CASE("A comment that has its line to itself allows on the next line") {
    CHECK(is_suppressed({"  // pinwarden: allow(leak) on purpose", "pin();"}, 2, "leak"));
    CHECK(is_suppressed({"  /* pinwarden: allow(leak) on purpose */", "pin();"}, 2, "leak"));
    CHECK_FALSE(is_suppressed({"// pinwarden: allow(leak) on purpose", "", "pin();"}, 3, "leak"));
}

TEST_CASE("Text that is no comment allows nothing") {
    CHECK_FALSE(is_suppressed({"puts(\"pinwarden: allow(leak) no\"); pin();"}, 1, "leak"));
    CHECK_FALSE(is_suppressed({"pin();  // pinwarden: allow(leak"}, 1, "leak"));
    CHECK_FALSE(is_suppressed({}, 1, "leak"));
    CHECK_FALSE(is_suppressed({"// pinwarden: allow(leak) x"}, 0, "leak"));
}

TEST_CASE("NOLINT counts alone, or with the rule's name among its checks") {
    CHECK(is_suppressed({"pin();  // NOLINT"}, 1, "leak"));
    CHECK(is_suppressed({"pin();  // NOLINT(pinwarden-leak, other-check)"}, 1, "leak"));
    CHECK(is_suppressed({"pin();  // NOLINT(pinwarden-*)"}, 1, "leak"));
    CHECK_FALSE(is_suppressed({"pin();  // NOLINT(other-check)"}, 1, "leak"));
    CHECK(is_suppressed({"// NOLINTNEXTLINE(pinwarden-leak)", "pin();"}, 2, "leak"));
    CHECK_FALSE(is_suppressed({"// NOLINTNEXTLINE(pinwarden-leak)", "pin();"}, 1, "leak"));
}

TEST_CASE("NOLINT in the text of the program allows nothing") {
    CHECK_FALSE(is_suppressed({"puts(\"NOLINT\"); pin();"}, 1, "leak"));
}

TEST_CASE("A comment that gives no reason is a finding") {
    const auto findings = reasonless_suppressions("a.c", {"pin();  // pinwarden: allow(leak)", "",
                                                          "pin();  // pinwarden: allow(leak): on purpose",
                                                          "pin(); /* pinwarden: allow(leak) - */"});
    REQUIRE(findings.size() == 2);
    CHECK(findings[0].rule == reasonless_rule);
    CHECK(findings[0].location == Location{"a.c", 1, 12});
    CHECK(findings[1].location.line == 4);
}

TEST_CASE("Lines are split at their ends, the last one with or without") {
    CHECK(split_lines("a\n\nb") == Lines{"a", "", "b"});
    CHECK(split_lines("a\n") == Lines{"a"});
    CHECK(split_lines("").empty());
}
