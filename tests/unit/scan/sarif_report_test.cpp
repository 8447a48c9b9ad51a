// SPDX-License-Identifier: Apache-2.0
#include "scan/driver/sarif_report.hpp"

#include "scan/driver/rules.hpp"

#include <support/json_schema.hpp>

#include <catch2/catch_test_macros.hpp>

#include <nlohmann/json.hpp>

#include <fstream>
#include <iterator>

using namespace pinwarden::scan;
using nlohmann::json;

namespace {

ReportedFinding example() {
    ReportedFinding finding;
    finding.rule = "leak";
    finding.confidence = Confidence::likely;
    finding.location = {"/w/src/a b.c", 2, 9};
    finding.message = "'p' is lost";
    finding.function = "read_frame";
    finding.notes = {{{"/w/src/a b.c", 2, 9}, "pinned here"}, {{"/elsewhere/x.h", 7, 1}, "returns here"}};
    finding.fingerprint = "0123456789abcdef:1";
    return finding;
}

std::string written(const ScanReport& report) {
    const std::vector<std::string> lines = {"", "\xC3\xA4\xC3\xA4(); pin(&p);"};
    return sarif_report(
        report, [&](const std::string&) -> const std::vector<std::string>& { return lines; }, "/w", "1.2.3");
}

std::vector<std::string> problems(const std::string& document) {
    std::ifstream stream(PINWARDEN_SARIF_SCHEMA);
    const std::string schema{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
    return pinwarden::testing::schema_problems(schema, document);
}

}  // namespace

TEST_CASE("A report with findings, paths and failures, and one with nothing, have the form of SARIF 2.1.0") {
    ScanReport report;
    CHECK(problems(written(report)).empty());
    report.findings = {example()};
    report.files = {{"/w/src/a b.c", FileState::scanned, "", 0, {}},
                    {"/w/broken.c", FileState::crashed, "signal 11", 0, {}}};
    CHECK(problems(written(report)).empty());
}

TEST_CASE("A result has its rule, place, fingerprint and path") {
    ScanReport report;
    report.findings = {example()};
    const json run = json::parse(written(report)).at("runs").at(0);
    CHECK(run.at("tool").at("driver").at("version") == "1.2.3");
    CHECK(run.at("tool").at("driver").at("rules").size() == all_rules().size());
    CHECK(run.at("originalUriBaseIds").at("SRCROOT").at("uri") == "file:///w/");
    const json& result = run.at("results").at(0);
    CHECK(result.at("ruleId") == "leak");
    CHECK(run.at("tool").at("driver").at("rules").at(result.at("ruleIndex").get<std::size_t>()).at("id") == "leak");
    CHECK(result.at("level") == "warning");
    CHECK(result.at("partialFingerprints").at(std::string(fingerprint_name)) == "0123456789abcdef:1");
    const json& physical = result.at("locations").at(0).at("physicalLocation");
    CHECK(physical.at("artifactLocation").at("uri") == "src/a%20b.c");
    CHECK(physical.at("artifactLocation").at("uriBaseId") == "SRCROOT");
    CHECK(physical.at("region").at("startLine") == 2);
    // Two letters of two bytes each stand before it.
    CHECK(physical.at("region").at("startColumn") == 7);
    CHECK(result.at("locations").at(0).at("logicalLocations").at(0).at("fullyQualifiedName") == "read_frame");
    const json& steps = result.at("codeFlows").at(0).at("threadFlows").at(0).at("locations");
    REQUIRE(steps.size() == 2);
    CHECK(steps.at(1).at("location").at("message").at("text") == "returns here");
    CHECK(steps.at(1).at("location").at("physicalLocation").at("artifactLocation").at("uri") ==
          "file:///elsewhere/x.h");
}

TEST_CASE("A file that failed makes the run unsuccessful, and says why") {
    ScanReport report;
    report.files = {{"/w/broken.c", FileState::timed_out, "no result within 1 s", 0, {}}};
    const json invocation = json::parse(written(report)).at("runs").at(0).at("invocations").at(0);
    CHECK(invocation.at("executionSuccessful") == false);
    const json& notification = invocation.at("toolExecutionNotifications").at(0);
    CHECK(notification.at("message").at("text") == "timed out: no result within 1 s");
    CHECK(notification.at("locations").at(0).at("physicalLocation").at("artifactLocation").at("uri") == "broken.c");
}

TEST_CASE("Of more results than code hosts take the first are written, and the rest is counted") {
    ScanReport report;
    report.findings.assign(most_sarif_results + 3, example());
    const json run = json::parse(written(report)).at("runs").at(0);
    CHECK(run.at("results").size() == most_sarif_results);
    CHECK(run.at("invocations").at(0).at("toolExecutionNotifications").at(0).at("message").at("text") ==
          "3 findings of 25003 are left out");
}
