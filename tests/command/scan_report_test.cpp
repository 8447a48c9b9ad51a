// SPDX-License-Identifier: Apache-2.0
#include <command/scan_project.hpp>
#include <support/json_schema.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>

using namespace pinwarden::testing;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using nlohmann::json;

namespace {

std::string text_of(const std::filesystem::path& file) {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

}  // namespace

TEST_CASE("A leak is shown with its line and the steps that lead to it, and the exit status is 1") {
    const ScanProject project;
    project.write("keep.c", leaking_source);
    const auto run = project.scan();
    CHECK(run.exit_status == 1);
    CHECK_THAT(run.output, ContainsSubstring("keep.c:3:9: warning: ") && ContainsSubstring("[leak, ") &&
                               ContainsSubstring("    3 |     if (mlock(key, size) != 0) return -1;\n") &&
                               ContainsSubstring("note: (1) "));
    CHECK_THAT(run.output, EndsWith("1 file: 1 scanned, 0 skipped (no pin call), 0 crashed; 1 finding.\n"));
    CHECK(run.errors.empty());
}

TEST_CASE("Code that is right is silent, and the exit status is 0") {
    const ScanProject project;
    project.write("keep.c", clean_source);
    project.write("other.cpp", "int answer() { return 42; }\n");
    const auto run = project.scan();
    CHECK(run.exit_status == 0);
    CHECK(run.output == "2 files: 1 scanned, 1 skipped (no pin call), 0 crashed; 0 findings.\n");
}

TEST_CASE("The JSON report has findings, files and a summary") {
    const ScanProject project;
    project.write("keep.c", leaking_source);
    const json report = project.report();
    REQUIRE(report.at("findings").size() == 1);
    CHECK(report.at("findings").at(0).at("rule") == "leak");
    CHECK(report.at("findings").at(0).at("location").at("line") == 3);
    CHECK(report.at("files").at(0).at("state") == "scanned");
    CHECK(report.at("summary").at("findings") == 1);
}

TEST_CASE("The SARIF report has the form of SARIF 2.1.0, and its fingerprints survive changes around a finding") {
    const ScanProject project;
    project.write("old/keep.c", leaking_source);
    const auto result = [&] {
        const auto run = project.scan({"--format", "sarif"});
        CHECK(schema_problems(text_of(PINWARDEN_SARIF_SCHEMA), run.output).empty());
        return json::parse(run.output).at("runs").at(0).at("results").at(0);
    };
    const json before = result();
    CHECK(before.at("codeFlows").at(0).at("threadFlows").at(0).at("locations").size() >= 2);
    std::filesystem::rename(project / "old", project / "new");
    std::string changed = "/* one more line */\n" + leaking_source;
    changed.replace(changed.find("    if (mlock"), 4, "\t\t");
    project.write("new/keep.c", changed);
    const json after = result();
    CHECK(after.at("locations") != before.at("locations"));
    CHECK(after.at("partialFingerprints") == before.at("partialFingerprints"));
}

TEST_CASE("The JUnit report has a test case for each file") {
    const ScanProject project;
    project.write("keep.c", leaking_source);
    const auto run = project.scan({"--format", "junit"});
    CHECK(run.exit_status == 1);
    CHECK_THAT(run.output, ContainsSubstring("<testsuites tests=\"1\" failures=\"1\"") &&
                               ContainsSubstring("<failure type=\"leak\""));
}

TEST_CASE("A report that goes to a file leaves the standard output alone, and has no colours") {
    const ScanProject project;
    project.write("keep.c", leaking_source);
    const auto run = project.scan({"--output", (project / "report.txt").string()});
    CHECK(run.exit_status == 1);
    CHECK(run.output.empty());
    CHECK_THAT(text_of(project / "report.txt"), ContainsSubstring("[leak, ") && !ContainsSubstring("\033["));
}

TEST_CASE("What cannot run is one line of error and exit status 2") {
    const ScanProject project;
    project.write("notes.txt", "nothing to scan\n");
    project.write("wrong/compile_commands.json", "[{]");
    project.write("keep.c.not", leaking_source);
    const std::string source = (project / "keep.c.not").string();
    const std::vector<std::vector<std::string>> wrong = {
        {"scan"},
        {"scan", "/nonexistent/tree"},
        {"scan", project.path()},
        {"scan", "-p", (project / "wrong").string()},
        {"scan", project.path(), "--format", "xml"},
        {"scan", project.path(), "-j", "0"},
        {"scan", source, "--baseline", "/nonexistent/report"},
        {"scan", source, "--config", "/nonexistent/settings"},
        {"scan", source, "--changed-since", "HEAD"},
    };
    for (const std::vector<std::string>& arguments : wrong) {
        const auto run = run_pinwarden(arguments);
        CAPTURE(arguments);
        CHECK(run.exit_status == 2);
        CHECK(run.output.empty());
        CHECK_THAT(run.errors, ContainsSubstring("pinwarden scan: error: "));
        CHECK(std::count(run.errors.begin(), run.errors.end(), '\n') == 1);
    }
}
