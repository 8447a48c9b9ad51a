// SPDX-License-Identifier: Apache-2.0
#include "scan/driver/text_report.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace pinwarden::scan;

namespace {

ScanReport example() {
    ScanReport report;
    ReportedFinding finding;
    finding.rule = "leak";
    finding.location = {"/w/a.c", 2, 3};
    finding.message = "'p' is lost";
    finding.notes = {{{"/w/a.c", 3, 2}, "returns here"}};
    report.findings = {finding};
    report.files = {{"/w/a.c", FileState::scanned, "", 0, {}},
                    {"/w/b.c", FileState::crashed, "signal 11", 0, {}},
                    {"/w/c.c", FileState::skipped, "", 0, {}}};
    return report;
}

std::string written(const ScanReport& report, bool colour) {
    const std::vector<std::string> lines = {"int f() {", "  pin(&p);", "\treturn 1;\r"};
    return text_report(
        report, [&](const std::string&) -> const std::vector<std::string>& { return lines; }, {colour, "/w"});
}

}  // namespace

TEST_CASE("A finding is written with its line, a caret and the numbered steps of its path") {
    CHECK(written(example(), false) ==
          "a.c:2:3: warning: 'p' is lost [leak, certain]\n"
          "    2 |   pin(&p);\n"
          "      |   ^\n"
          "a.c:3:2: note: (1) returns here\n"
          "    3 | \treturn 1;\n"
          "      | \t^\n"
          "b.c: error: crashed: signal 11\n"
          "3 files: 1 scanned, 1 skipped (no pin call), 1 crashed; 1 finding.\n");
}

TEST_CASE("Colours are only there when they are asked for") {
    CHECK_THAT(written(example(), true), Catch::Matchers::ContainsSubstring("\033["));
    CHECK_THAT(written(example(), false), !Catch::Matchers::ContainsSubstring("\033["));
}

TEST_CASE("The summary counts what was left out, where something was") {
    ScanReport report;
    report.suppressed = 1;
    report.known = 2;
    report.not_changed = 3;
    CHECK(summary_line(report) == "0 files: 0 scanned, 0 skipped (no pin call), 0 crashed; 0 findings, 1 suppressed, "
                                  "2 in the baseline, 3 in unchanged code.\n");
}
