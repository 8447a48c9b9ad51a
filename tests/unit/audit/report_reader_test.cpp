// SPDX-License-Identifier: Apache-2.0
#include <report/report_reader.hpp>

#include <string>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>

#include <report/plain_text.hpp>
#include <report/report_format.hpp>

#include <support/stored_reports.hpp>

namespace pinwarden::audit {

namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Json = nlohmann::json;
using testing::eventful_report;

// What a file can hold of a report: labels are characters there.
StoredReport as_in_a_file(StoredReport report) {
    for (StoredPin& pin : report.pins) pin.label = valid_utf8(pin.label);
    return report;
}

void check_refused(const std::string& text, const std::string& problem) {
    CAPTURE(text.substr(0, 200));
    CHECK_THROWS_MATCHES(static_cast<void>(read_report(text, "run.json")), ReportError,
                         MessageMatches(ContainsSubstring("'run.json'") && ContainsSubstring(problem)));
}

template <typename Change>
std::string changed(Change change) {
    Json document = Json::parse(write_json(eventful_report()));
    change(document);
    return document.dump();
}

}  // namespace

TEST_CASE("What was written is read back as it was", "[report]") {
    StoredReport report = eventful_report();
    CHECK(read_report(write_json(report), "run.json") == as_in_a_file(report));
    CHECK(read_report(write_json(StoredReport{}), "run.json") == StoredReport{});
    report.process.clear();
    report.processes = {{.name = "a", .counts = report.counts, .peak_locked_bytes = 1, .kernel_locked_bytes = 2},
                        {.name = "b"}};
    for (StoredPin& pin : report.pins) pin.process = "a";
    CHECK(read_report(write_json(report), "run.json") == as_in_a_file(report));
    const std::string again = write_json(as_in_a_file(report));
    CHECK(write_json(read_report(again, "run.json")) == again);
}

TEST_CASE("What is no JSON is refused with the place", "[report]") {
    check_refused("", "it is empty");
    check_refused(" \n\t", "it is empty");
    check_refused("\x7f" "ELF", "it is no JSON from line 1, byte 1 on");
    check_refused("{\"schema\": 1}\n{}", "it is no JSON from line 2, byte 15 on");
    check_refused("{\"schema\": \"\xFF\"}", "it is no JSON from line 1, byte 13 on");
}

TEST_CASE("A report cut at any byte is refused, and said to be truncated", "[report]") {
    const std::string whole = write_json(eventful_report());
    for (std::size_t size = 1; size < whole.size(); ++size) {
        try {
            static_cast<void>(read_report(std::string_view(whole).substr(0, size), "run.json"));
            FAIL("a report of " << size << " bytes instead of " << whole.size() << " was read");
        } catch (const ReportError& error) {
            const std::string text = error.what();
            if (text.find("it ends too early, at line") == std::string::npos) FAIL_CHECK(size << ": " << text);
        }
    }
}

TEST_CASE("Other JSON is refused with what it lacks", "[report]") {
    check_refused("[]", "it is an array, not an object");
    check_refused("17", "it is 17, not an object");
    check_refused("{}", "it lacks the member 'schema'");
    check_refused(R"({"schema": "something-else", "version": 2})",
                  "'schema' is \"something-else\", not \"pinwarden-leak-report\"");
    check_refused(R"({"schema": "pinwarden-leak-report"})", "it lacks the member 'version'");
}

TEST_CASE("A report of another version is refused, and both versions are named", "[report]") {
    for (const int version : {0, 1, 3, 1000}) {
        check_refused(changed([&](Json& report) { report["version"] = version; }),
                      "of version " + std::to_string(version) + ", and this program reads version 2");
    }
    check_refused(changed([](Json& report) { report["version"] = "2"; }), "'version' is \"2\", not a whole number");
}

TEST_CASE("A wrong value is refused with its path, and what would be right", "[report]") {
    check_refused(changed([](Json& report) { report["pins"][1]["bytes"] = -1; }),
                  "'pins[1].bytes' is -1, not a whole number from 0");
    check_refused(changed([](Json& report) { report["pins"][1]["bytes"] = 1.5; }), "'pins[1].bytes' is 1.5");
    check_refused(changed([](Json& report) { report["pins"][0]["state"] = "lost"; }),
                  "'pins[0].state' is \"lost\", not live, cached, in_flight or quarantined");
    check_refused(changed([](Json& report) { report["pins"][0]["line"] = 4294967296; }), "'pins[0].line'");
    check_refused(changed([](Json& report) { report["pins"][2] = nullptr; }), "'pins[2]' is null, not an object");
    check_refused(changed([](Json& report) { report["pins"][0]["label"] = Json::object(); }),
                  "'pins[0].label' is an object, not a string");
    check_refused(changed([](Json& report) { report["clean"] = 0; }), "'clean' is 0, not true or false");
    check_refused(changed([](Json& report) { report["pins"] = "none"; }), "'pins' is \"none\", not an array");
    check_refused(changed([](Json& report) { report["in_flight_by_stream"][0]["pins"] = 0; }),
                  "'in_flight_by_stream[0].pins' is 0, not a whole number from 1");
    for (const char* const address : {"7f00", "0x", "0xG", "0x7F"}) {
        check_refused(changed([&](Json& report) { report["pins"][0]["address"] = address; }),
                      "'pins[0].address' is \"" + std::string(address));
    }
    check_refused(changed([](Json& report) { report["pins"][0]["stack"][1].erase("module"); }),
                  "'pins[0].stack[1]' lacks the member 'module'");
    check_refused(changed([](Json& report) { report["counts"].erase("live"); }), "'counts' lacks the member 'live'");
    check_refused(changed([](Json& report) { report["surprise"] = 1; }), "it has the unknown member \"surprise\"");
    check_refused(changed([](Json& report) { report["counts"]["live"]["\n"] = 1; }),
                  "'counts.live' has the unknown member \"\\n\"");
}

TEST_CASE("Each member of a report that is not optional is missed when it is gone", "[report]") {
    const Json whole = Json::parse(write_json(eventful_report()));
    for (const auto& [key, value] : whole.items()) {
        if (key == "process") continue;
        check_refused(changed([&](Json& report) { report.erase(key); }), "lacks the member '" + key + "'");
    }
    for (const auto& [key, value] : whole["pins"][0].items()) {
        if (key == "stack") continue;
        check_refused(changed([&](Json& report) { report["pins"][0].erase(key); }),
                      "'pins[0]' lacks the member '" + key + "'");
    }
}

TEST_CASE("A report that contradicts itself is refused", "[report]") {
    check_refused(changed([](Json& report) { report["pins"].erase(0); }),
                  "'counts.live' says 5 pins, 20000 bytes and 20480 locked bytes, but 'pins' lists 4");
    check_refused(changed([](Json& report) { report["counts"]["cached"]["bytes"] = 1; }),
                  "'counts.cached' says 1 pins");
    check_refused(changed([](Json& report) { report["clean"] = true; }), "'clean' is true, but it counts 5 live pins");
}

TEST_CASE("Deep nesting and long values are refused in one short line", "[report]") {
    const std::string deep = "{\"schema\":" + std::string(100'000, '[') + std::string(100'000, ']') + "}";
    check_refused(deep, "'schema' is an array, not a string");
    try {
        static_cast<void>(read_report("{\"schema\": \"" + std::string(100'000, 'x') + "\"}", "run.json"));
        FAIL("read");
    } catch (const ReportError& error) {
        CHECK(std::string_view(error.what()).size() < 500);
    }
}

}  // namespace pinwarden::audit
