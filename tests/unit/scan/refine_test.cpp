// SPDX-License-Identifier: Apache-2.0
#include "scan/driver/refine.hpp"

#include <support/temporary_folder.hpp>

#include <catch2/catch_test_macros.hpp>

#include <fstream>
#include <utility>

using namespace pinwarden::scan;

namespace {

Finding finding_at(const std::string& file, unsigned line, const std::string& rule = "leak") {
    Finding finding;
    finding.rule = rule;
    finding.location = {file, line, 1};
    finding.message = "found";
    return finding;
}

/// A source with one line for each finding, and the report of findings at all of them.
struct Source {
    pinwarden::testing::TemporaryFolder folder;
    std::string file = (folder / "a.c").string();
    std::vector<Finding> findings;
    SourceText text;
    ScanOptions options;
    ReportFilters filters;

    explicit Source(const std::vector<std::string>& lines) {
        std::ofstream stream(file);
        for (const std::string& line : lines) stream << line << '\n';
        for (unsigned line = 1; line <= lines.size(); ++line) findings.push_back(finding_at(file, line));
    }

    ScanReport refined() {
        ScanReport report;
        report.files.push_back({file, FileState::scanned, "", 0, {}});
        refine(findings, options, filters, text, report);
        return report;
    }
};

}  // namespace

TEST_CASE("Findings that a comment allows are counted and left out, and one without a reason is a finding") {
    Source source({"a();  // pinwarden: allow(leak) for the whole run", "b();", "c();  // pinwarden: allow(leak)"});
    const ScanReport report = source.refined();
    CHECK(report.suppressed == 2);
    REQUIRE(report.findings.size() == 2);
    CHECK(report.findings[0].location.line == 2);
    CHECK(report.findings[1].rule == "allow-without-reason");
    CHECK(report.findings[1].location.line == 3);
}

TEST_CASE("What the baseline has is counted and left out, and only that") {
    Source source({"a();", "b();"});
    const ScanReport first = source.refined();
    REQUIRE(first.findings.size() == 2);
    source.filters.known = {first.findings[0].fingerprint};
    const ScanReport second = source.refined();
    CHECK(second.known == 1);
    REQUIRE(second.findings.size() == 1);
    CHECK(second.findings[0].fingerprint == first.findings[1].fingerprint);
}

TEST_CASE("What lies in unchanged code is counted and left out") {
    Source source({"a();", "b();", "c();"});
    source.filters.changed.emplace();
    source.filters.changed->add_diff("+++ a.c\n@@ -2,0 +3 @@\n+c();\n", source.folder.path());
    const ScanReport report = source.refined();
    CHECK(report.not_changed == 2);
    REQUIRE(report.findings.size() == 1);
    CHECK(report.findings[0].location.line == 3);
}

TEST_CASE("A project's settings take out rules and files") {
    Source source({"a();"});
    ProjectFile project;
    project.folder = source.folder.path();
    project.rules["leak"] = RuleSetting::off;
    source.filters.projects = {project};
    CHECK(source.refined().findings.empty());
    source.filters.projects[0].rules.clear();
    CHECK(source.refined().findings.size() == 1);
    source.filters.projects[0].skip = {"a.c"};
    CHECK(source.refined().findings.empty());
}

TEST_CASE("Raw pins are findings only where handles are required, and not in the folders allowed") {
    Source source({"a();"});
    source.findings[0].rule = "raw-pin";
    CHECK(source.refined().findings.empty());
    source.options.require_handles = true;
    CHECK(source.refined().findings.size() == 1);
    source.options.allowed_folders = {source.folder.path().string()};
    CHECK(source.refined().findings.empty());

    source.options = {};
    ProjectFile project;
    project.folder = source.folder.path();
    project.require_handles = true;
    source.filters.projects = {project};
    CHECK(source.refined().findings.size() == 1);
    source.filters.projects[0].allowed_folders = {source.folder.path().string()};
    CHECK(source.refined().findings.empty());
}

TEST_CASE("Findings in the auditor's own declarations are nobody's") {
    Source source({"a();"});
    source.findings[0].location.file = "/pinwarden-prelude/cuda/cuda_runtime.h";
    CHECK(source.refined().findings.empty());
}

TEST_CASE("A folder is allowed by its path, or by its name below what is scanned") {
    CHECK(is_in_folders("/w/src/backend/a.cpp", {"/w/src/backend"}, {}));
    CHECK(is_in_folders("/w/src/backend/a.cpp", {"backend"}, {"/w/src"}));
    CHECK(is_in_folders("/w/src/backend/cuda/a.cpp", {"backend/"}, {"/w/src"}));
    CHECK_FALSE(is_in_folders("/w/src/backend2/a.cpp", {"backend"}, {"/w/src"}));
    CHECK_FALSE(is_in_folders("/backend/src/a.cpp", {"backend"}, {"/backend/src"}));
    CHECK_FALSE(is_in_folders("/w/src/backend.cpp", {"backend"}, {"/w/src"}));
}
