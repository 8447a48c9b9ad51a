// SPDX-License-Identifier: Apache-2.0
#include "scan/driver/baseline.hpp"

#include "scan/driver/json_report.hpp"
#include "scan/driver/sarif_report.hpp"

#include <pinwarden/core/error.hpp>
#include <support/temporary_folder.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <fstream>

using namespace pinwarden::scan;

TEST_CASE("The fingerprints of a JSON report and of a SARIF report come back") {
    const pinwarden::testing::TemporaryFolder folder;
    ScanReport report;
    for (const char* fingerprint : {"0123:1", "0123:2"}) {
        ReportedFinding finding;
        finding.rule = "leak";
        finding.location = {"/a/b.c", 3, 1};
        finding.fingerprint = fingerprint;
        report.findings.push_back(finding);
    }
    const std::vector<std::string> no_lines;
    const LinesOf lines_of = [&](const std::string&) -> const std::vector<std::string>& { return no_lines; };
    std::ofstream(folder / "report") << (GENERATE(false, true) ? sarif_report(report, lines_of, "", "1.2.3")
                                                               : json_report(report));
    CHECK(read_baseline(folder / "report") == std::set<std::string>{"0123:1", "0123:2"});
}

TEST_CASE("A baseline that is none is an error that names the file") {
    const pinwarden::testing::TemporaryFolder folder;
    const char* const text = GENERATE("", "[]", "{}", "{\"findings\": [{}]}", "{\"runs\": [{\"results\": [1]}]}");
    std::ofstream(folder / "wrong.json") << text;
    CHECK_THROWS_MATCHES(read_baseline(folder / "wrong.json"), pinwarden::ConfigurationError,
                         Catch::Matchers::MessageMatches(Catch::Matchers::ContainsSubstring("wrong.json")));
    CHECK_THROWS_AS(read_baseline(folder / "missing.json"), pinwarden::ConfigurationError);
}
