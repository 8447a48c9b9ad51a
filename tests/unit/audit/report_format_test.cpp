// SPDX-License-Identifier: Apache-2.0
#include <report/report_format.hpp>

#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>

#include <support/json_schema.hpp>
#include <support/stored_reports.hpp>
#include <support/xml.hpp>

namespace pinwarden::audit {

namespace {

using Catch::Matchers::ContainsSubstring;
using Json = nlohmann::json;
using testing::add_pin;
using testing::eventful_report;
using testing::live_pin;

Json sarif_run(const StoredReport& report) { return Json::parse(write_sarif(report)).at("runs").at(0); }

std::string schema() {
    std::ifstream file(PINWARDEN_DOCS "/leak-report.schema.json");
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

}  // namespace

TEST_CASE("The ending of a name chooses the format, and text is for all others", "[report]") {
    CHECK(format_of("leaks.json") == ReportFormat::json);
    CHECK(format_of("leaks.xml") == ReportFormat::junit);
    CHECK(format_of("leaks.sarif") == ReportFormat::sarif);
    CHECK(format_of("leaks.sarif.json") == ReportFormat::sarif);
    for (const char* const name : {"leaks.txt", "leaks", "leaks.json.gz", "json", ""}) {
        CHECK(format_of(name) == ReportFormat::text);
    }
}

TEST_CASE("Each format is written with one line end behind it", "[report]") {
    const StoredReport report = eventful_report();
    CHECK(write(report, ReportFormat::text) == write_text(report) + "\n");
    CHECK(write(report, ReportFormat::json) == write_json(report) + "\n");
    CHECK(write(report, ReportFormat::junit) == write_junit(report) + "\n");
    CHECK(write(report, ReportFormat::sarif) == write_sarif(report) + "\n");
}

TEST_CASE("The text shows the stack below its pin, and obeys no control character", "[report]") {
    const std::string text = write_text(eventful_report());
    CHECK_THAT(text, ContainsSubstring("\n    by make_buffers() at /src/engine.cpp:12\n    by main in /bin/engine\n"
                                       "    by 0x7f00000a\n"));
    for (const char letter : text) CHECK((letter == '\n' || static_cast<unsigned char>(letter) >= 0x20));
    CHECK_THAT(text, ContainsSubstring("\\x1b"));
}

TEST_CASE("The JSON of everything that a report can hold keeps to the published schema", "[report]") {
    StoredReport report = eventful_report();
    for (const std::string& problem : testing::schema_problems(schema(), write_json(report))) FAIL_CHECK(problem);
    report.processes = {{.name = "a", .counts = report.counts, .peak_locked_bytes = 1, .kernel_locked_bytes = 2}};
    report.pins[0].process = "a";
    report.process.clear();
    for (const std::string& problem : testing::schema_problems(schema(), write_json(report))) FAIL_CHECK(problem);
}

TEST_CASE("The JUnit form has a failed test for each pin that is live or in flight", "[report]") {
    const auto root = testing::parse_xml(write_junit(eventful_report()));
    REQUIRE(root.name == "testsuites");
    const auto suites = root.all("testsuite");
    REQUIRE(suites.size() == 1);
    const auto cases = root.all("testcase");
    REQUIRE(cases.size() == 6);
    for (const char* const counted : {"tests", "failures"}) {
        CHECK(root.attribute(counted) == "6");
        CHECK(suites[0]->attribute(counted) == "6");
    }
    CHECK(cases[0]->attribute("classname") == "pinwarden.zero2");
    CHECK_THAT(cases[0]->attribute("name"), ContainsSubstring("'hp_params' of 4000 bytes (3.9 KiB) at "
                                                              "/src/engine.cpp:12"));
    CHECK(cases[0]->attribute("file") == "/src/engine.cpp");
    CHECK(cases[0]->attribute("line") == "12");
    const auto failures = root.all("failure");
    REQUIRE(failures.size() == 6);
    CHECK(failures[0]->attribute("type") == "live");
    CHECK_THAT(failures[0]->attribute("message"), ContainsSubstring("live 'hp_params'"));
    CHECK_THAT(failures[0]->text, ContainsSubstring("\n  by make_buffers() at /src/engine.cpp:12\n"));
    CHECK(failures[5]->attribute("type") == "in_flight");
    CHECK_THAT(failures[5]->text, ContainsSubstring("used on stream copy"));
    // What is kept on purpose fails nothing and is still told.
    REQUIRE(root.all("system-out").size() == 1);
    CHECK_THAT(root.all("system-out")[0]->text, ContainsSubstring("quarantined 'lp_grads'"));
}

TEST_CASE("The JUnit form of a clean report is one test that passed", "[report]") {
    StoredReport report;
    StoredPin kept = live_pin("pool");
    kept.state = PinState::cached;
    add_pin(report, kept);
    const auto root = testing::parse_xml(write_junit(report));
    CHECK(root.attribute("tests") == "1");
    CHECK(root.attribute("failures") == "0");
    REQUIRE(root.all("testcase").size() == 1);
    CHECK(root.all("failure").empty());
}

TEST_CASE("SARIF has what the standard requires, and a rule for each result", "[report]") {
    const Json document = Json::parse(write_sarif(eventful_report()));
    CHECK(document.at("version") == "2.1.0");
    REQUIRE(document.at("runs").size() == 1);
    const Json& run = document["runs"][0];
    const Json& driver = run.at("tool").at("driver");
    CHECK(driver.at("name") == "pinwarden");
    CHECK(driver.at("rules").size() == 3);
    REQUIRE(run.at("results").size() == 7);  // a pool's block is no result
    std::set<std::string> fingerprints;
    for (const Json& result : run["results"]) {
        CHECK(driver["rules"].at(result.at("ruleIndex").get<std::size_t>()).at("id") == result.at("ruleId"));
        CHECK_FALSE(result.at("message").at("text").get<std::string>().empty());
        CHECK(result.at("locations").size() == 1);
        fingerprints.insert(result.at("partialFingerprints").at("pinwardenPin/v1").get<std::string>());
    }
    CHECK(fingerprints.size() == 7);
    CHECK(sarif_run(StoredReport{}).at("results").empty());
}

TEST_CASE("A SARIF result points at the source line of the pin and shows its stack", "[report]") {
    StoredReport report;
    add_pin(report, live_pin("weights")).stack = eventful_report().pins[0].stack;
    const Json result = sarif_run(report).at("results").at(0);
    CHECK(result.at("ruleId") == "live-pin");
    CHECK(result.at("level") == "error");
    const Json& place = result.at("locations").at(0).at("physicalLocation");
    CHECK(place.at("artifactLocation") == Json({{"uri", "file:///src/engine.cpp"}}));
    CHECK(place.at("region").at("startLine") == 12);
    CHECK(result["locations"][0].at("logicalLocations").at(0).at("fullyQualifiedName") == "void run()");
    CHECK_THAT(result.at("message").at("text").get<std::string>(),
               ContainsSubstring("'weights' of 4000 bytes") && ContainsSubstring("scope 'zero2'"));
    const Json& frames = result.at("stacks").at(0).at("frames");
    REQUIRE(frames.size() == 3);
    CHECK(frames[0].at("location").at("physicalLocation").at("region").at("startLine") == 12);
    CHECK(frames[0].at("module") == "/bin/engine");
    CHECK(frames[2].at("location").at("message").at("text") == "by 0x7f00000a");
}

TEST_CASE("A relative source file is meant from the root, and a name of any bytes is a URI", "[report]") {
    StoredReport report;
    add_pin(report, live_pin("")).file = "src/a b#\xC3\xA4%.cpp";
    StoredPin& nowhere = add_pin(report, live_pin("", 0));
    nowhere.file = "";
    nowhere.function = "";
    const Json results = sarif_run(report).at("results");
    REQUIRE(results.size() == 2);
    CHECK(results[0].at("locations").at(0) == Json::object());  // sorted by file: the empty name comes first
    const Json& place = results[1].at("locations").at(0).at("physicalLocation");
    CHECK(place.at("artifactLocation") ==
          Json({{"uri", "src/a%20b%23%C3%A4%25.cpp"}, {"uriBaseId", "%SRCROOT%"}}));
}

TEST_CASE("Pins of one line are one SARIF result, whose fingerprint outlives inserted lines", "[report]") {
    StoredReport report;
    add_pin(report, live_pin("weights", 12));
    add_pin(report, live_pin("weights", 12));
    add_pin(report, live_pin("weights", 20));
    const Json before = sarif_run(report).at("results");
    REQUIRE(before.size() == 2);
    CHECK(before[0].at("occurrenceCount") == 2);
    CHECK_THAT(before[0].at("message").at("text").get<std::string>(), ContainsSubstring("2 pins 'weights'"));
    for (StoredPin& pin : report.pins) pin.line += 7;
    const Json after = sarif_run(report).at("results");
    REQUIRE(after.size() == 2);
    CHECK(after[0].at("partialFingerprints") == before[0].at("partialFingerprints"));
    CHECK(after[1].at("partialFingerprints") == before[1].at("partialFingerprints"));
    CHECK(after[0].at("partialFingerprints") != after[1].at("partialFingerprints"));
    CHECK(after[0].at("locations") != before[0].at("locations"));
}

}  // namespace pinwarden::audit
