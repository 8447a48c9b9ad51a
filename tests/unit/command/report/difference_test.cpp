// SPDX-License-Identifier: Apache-2.0
#include <command/report/difference.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>
#include <support/stored_reports.hpp>

namespace pinwarden::command {

namespace {

using audit::StoredPin;
using audit::StoredReport;
using Catch::Matchers::ContainsSubstring;
using testing::add_pin;
using testing::live_pin;

StoredReport report_of(const std::vector<StoredPin>& pins) {
    StoredReport report;
    for (const StoredPin& pin : pins) add_pin(report, pin);
    return report;
}

StoredPin sized(StoredPin pin, std::size_t bytes) {
    pin.bytes = bytes;
    return pin;
}

StoredReport earlier() {
    return report_of({live_pin("same"), live_pin("gone"), live_pin("more"), live_pin("larger"), live_pin("fewer"),
                      live_pin("fewer")});
}

StoredReport later() {
    return report_of({live_pin("same", 77), live_pin("new"), live_pin("more"), live_pin("more"),
                      sized(live_pin("larger"), 4001), live_pin("fewer")});
}

}  // namespace

TEST_CASE("Pins are new, grown, shrunk or gone; a moved line is no change") {
    const auto changes = compare(earlier(), later());
    REQUIRE(changes.size() == 5);
    const auto is = [&](std::size_t index, ChangeKind kind, const char* label) {
        CHECK(changes[index].kind == kind);
        CHECK(changes[index].identity.label == label);
    };
    is(0, ChangeKind::appeared, "new");
    is(1, ChangeKind::grown, "more");  // by more bytes than the next
    is(2, ChangeKind::grown, "larger");
    is(3, ChangeKind::shrunk, "fewer");
    is(4, ChangeKind::gone, "gone");
    CHECK(changes[1].before.pins == 1);
    CHECK(changes[1].after.pins == 2);
    CHECK(compare(earlier(), earlier()).empty());
}

TEST_CASE("A pin whose state changed is new in one state and gone in the other") {
    StoredPin stuck = live_pin("a");
    stuck.state = audit::PinState::quarantined;
    const auto changes = compare(report_of({live_pin("a")}), report_of({stuck}));
    REQUIRE(changes.size() == 2);
    CHECK(changes[0].identity.state == audit::PinState::quarantined);
    CHECK(changes[1].kind == ChangeKind::gone);
}

TEST_CASE("What is new or grown is worse, what a pool keeps is not") {
    CHECK(is_worse(compare(earlier(), later())));
    CHECK(is_worse(compare(report_of({live_pin("a")}), report_of({live_pin("a"), live_pin("a")}))));
    const StoredReport three = report_of({live_pin("a"), live_pin("b"), live_pin("b")});
    CHECK_FALSE(is_worse(compare(three, report_of({live_pin("b")}))));
    CHECK_FALSE(is_worse({}));
    StoredPin kept = live_pin("pool");
    kept.state = audit::PinState::cached;
    const auto changes = compare(report_of({}), report_of({kept}));
    CHECK(changes.size() == 1);
    CHECK_FALSE(is_worse(changes));
}

TEST_CASE("The text counts the changes and has a line for each") {
    const std::string text = changes_text(compare(earlier(), later()), "a.json", "b.json");
    CHECK_THAT(text, ContainsSubstring("from 'a.json' to 'b.json': 1 new, 2 grown, 1 shrunk, 1 gone\n"));
    CHECK_THAT(text, ContainsSubstring("\n  new    /src/engine.cpp:12: live 'new', 1 pin of 4000 bytes (3.9 KiB), "
                                       "scope 'zero2'\n"));
    CHECK_THAT(text, ContainsSubstring("'more', 1 pin of 4000 bytes (3.9 KiB) -> 2 pins of 8000 bytes (7.8 KiB)"));
    CHECK(changes_text({}, "a", "b") == "from 'a' to 'b': 0 new, 0 grown, 0 shrunk, 0 gone\n");
}

TEST_CASE("The JSON of changes holds the same") {
    const auto document = nlohmann::json::parse(changes_json(compare(earlier(), later()), "a.json", "\xFF"));
    CHECK(document.at("schema") == "pinwarden-leak-report-changes");
    CHECK(document.at("worse") == true);
    CHECK(document.at("after") == "\xEF\xBF\xBD");
    REQUIRE(document.at("changes").size() == 5);
    const auto& grown = document["changes"][1];
    CHECK(grown.at("kind") == "grown");
    CHECK(grown.at("label") == "more");
    CHECK(grown.at("before").at("pins") == 1);
    CHECK(grown.at("after").at("bytes") == 8000);
    CHECK(grown.at("fingerprint").get<std::string>().size() == 16);
}

}  // namespace pinwarden::command
