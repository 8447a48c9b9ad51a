// SPDX-License-Identifier: Apache-2.0
#include <report/pin_groups.hpp>

#include <set>
#include <string>

#include <catch2/catch_test_macros.hpp>

#include <support/stored_reports.hpp>

namespace pinwarden::audit {

using testing::add_pin;
using testing::live_pin;

TEST_CASE("Pins are the same finding if code, name and state agree, wherever they lie", "[report]") {
    StoredPin pin = live_pin("weights");
    const PinIdentity identity = identity_of(pin);
    pin.address = "0x1";
    pin.line = 99;
    pin.bytes = 1;
    pin.thread = "2";
    pin.age_ns = 3;
    pin.process = "other";
    CHECK(identity_of(pin) == identity);
    std::set<std::string> fingerprints{fingerprint(identity)};
    const auto differs = [&](auto&& change) {
        StoredPin other = live_pin("weights");
        change(other);
        CHECK(identity_of(other) != identity);
        CHECK(fingerprints.insert(fingerprint(identity_of(other))).second);
    };
    differs([](StoredPin& other) { other.file = "/src/other.cpp"; });
    differs([](StoredPin& other) { other.function = "void other()"; });
    differs([](StoredPin& other) { other.label = "weight"; });
    differs([](StoredPin& other) { other.scope = ""; });
    differs([](StoredPin& other) { other.state = PinState::quarantined; });
    differs([](StoredPin& other) {
        other.label = "";
        other.function = "void run()weights";
    });
}

TEST_CASE("A fingerprint is the same on every machine and in every version", "[report]") {
    CHECK(fingerprint({.file = "a.cpp", .function = "f", .label = "b", .scope = "c"}) == "727412e2c7f2fa83");
}

TEST_CASE("A label keeps its identity when it has been through a file", "[report]") {
    StoredPin pin = live_pin("\xFF");
    const PinIdentity identity = identity_of(pin);
    pin.label = "\xEF\xBF\xBD";
    CHECK(identity_of(pin) == identity);
}

TEST_CASE("Groups add up their pins and name the line of the first", "[report]") {
    StoredReport report;
    add_pin(report, live_pin("b", 30));
    add_pin(report, live_pin("a", 10));
    add_pin(report, live_pin("b", 20));
    add_pin(report, live_pin("b", 30));
    const auto groups = group_by_identity(report);
    REQUIRE(groups.size() == 2);
    CHECK(groups[0].identity.label == "a");
    CHECK(groups[1].tally == Tally{3, 12000, 3 * 4096});
    CHECK(groups[1].line == 30);
    REQUIRE(groups[1].pins.size() == 3);
    CHECK(groups[1].pins[1] == &report.pins[2]);
    const auto lines = group_by_line(report);
    REQUIRE(lines.size() == 3);
    CHECK(lines[1].line == 20);
    CHECK(lines[2].line == 30);
    CHECK(lines[2].tally.pins == 2);
    CHECK(group_by_line(StoredReport{}).empty());
}

}  // namespace pinwarden::audit
