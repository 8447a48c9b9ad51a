// SPDX-License-Identifier: Apache-2.0
#include "scan/driver/junit_report.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace pinwarden::scan;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("Each file is a test case: passed, failed, skipped or in error") {
    ScanReport report;
    report.files = {{"/w/clean.c", FileState::scanned, "", 0, {}},
                    {"/w/bad.c", FileState::scanned, "", 0, {}},
                    {"/w/none.c", FileState::skipped, "", 0, {}},
                    {"/w/broken.c", FileState::timed_out, "no result within 1 s", 0, {}}};
    ReportedFinding finding;
    finding.rule = "leak";
    finding.location = {"/w/bad.c", 3, 5};
    finding.message = "'p' is lost";
    finding.notes.push_back({{"/w/bad.c", 9, 2}, "returns here"});
    report.findings.push_back(finding);
    const std::string xml = junit_report(report, "/w");
    CHECK_THAT(xml, ContainsSubstring("<testsuites tests=\"4\" failures=\"1\" errors=\"1\" skipped=\"1\">"));
    CHECK_THAT(xml, ContainsSubstring("name=\"clean.c\" file=\"clean.c\"/>"));
    CHECK_THAT(xml, ContainsSubstring("<failure type=\"leak\" message=\"line 3: 'p' is lost\">bad.c:3:5: 'p' is "
                                      "lost&#10;(1) bad.c:9:2: returns here</failure>"));
    CHECK_THAT(xml, ContainsSubstring("<skipped"));
    CHECK_THAT(xml, ContainsSubstring("<error type=\"timed out\" message=\"no result within 1 s\"/>"));
}

TEST_CASE("A finding in a header is a test case of its own, and odd letters do not break the document") {
    ScanReport report;
    ReportedFinding finding;
    finding.rule = "leak";
    finding.location = {"/w/a<b>&\"\x01\xFF\xC3\xA4.h", 1, 1};
    report.findings.push_back(finding);
    CHECK_THAT(junit_report(report, "/w"), ContainsSubstring("name=\"a&lt;b&gt;&amp;&quot;??\xC3\xA4.h\""));
}
