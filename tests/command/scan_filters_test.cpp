// SPDX-License-Identifier: Apache-2.0
#include <command/scan_project.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace pinwarden::testing;
using Catch::Matchers::ContainsSubstring;
using nlohmann::json;

namespace {

std::string with_comment(const std::string& comment) {
    std::string text = leaking_source;
    return text.replace(text.find("return -1;"), 10, "return -1;  " + comment);
}

void git(const ScanProject& project, std::vector<std::string> arguments) {
    std::vector<std::string> all = {"git", "-C", project.path(), "-c", "user.name=T", "-c",
                                    "user.email=t@example.org",
                                    "-c", "commit.gpgsign=false"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    REQUIRE(run_program("/usr/bin/env", all).exit_status == 0);
}

}  // namespace

TEST_CASE("A comment with a reason takes a finding out, and NOLINT does") {
    const ScanProject project;
    for (const char* comment : {"// pinwarden: allow(leak) the key lives on", "// NOLINT(pinwarden-leak)"}) {
        CAPTURE(comment);
        project.write("keep.c", with_comment(comment));
        const auto run = project.scan();
        CHECK(run.exit_status == 0);
        CHECK_THAT(run.output, ContainsSubstring("0 findings, 1 suppressed"));
    }
}

TEST_CASE("A comment without a reason is a finding itself") {
    const ScanProject project;
    project.write("keep.c", with_comment("// pinwarden: allow(leak)"));
    const json report = project.report();
    CHECK(report.at("summary").at("suppressed") == 1);
    REQUIRE(report.at("findings").size() == 1);
    CHECK(report.at("findings").at(0).at("rule") == "allow-without-reason");
}

TEST_CASE("A comment for another rule changes nothing") {
    const ScanProject project;
    project.write("keep.c", with_comment("// pinwarden: allow(double-pin) nested on purpose"));
    CHECK(project.scan().exit_status == 1);
}

TEST_CASE("With a baseline only new findings count, in both formats") {
    const ScanProject project;
    project.write("keep.c", leaking_source);
    for (const std::string format : {"json", "sarif"}) {
        const std::string baseline = (project / ("baseline." + format)).string();
        REQUIRE(project.scan({"--format", format, "--output", baseline}).exit_status == 1);
        const auto same = project.scan({"--baseline", baseline});
        CHECK(same.exit_status == 0);
        CHECK_THAT(same.output, ContainsSubstring("0 findings, 1 in the baseline"));
    }
    std::string second = leaking_source;
    second.replace(second.find("keep"), 4, "hold");
    project.write("keep.c", leaking_source + second);
    const json report = project.report({"--baseline", (project / "baseline.json").string()});
    CHECK(report.at("summary").at("known") == 1);
    REQUIRE(report.at("findings").size() == 1);
    CHECK(report.at("findings").at(0).at("location").at("line") == 10);
}

TEST_CASE("With a revision only findings in functions that changed since count, a lost release among them") {
    const ScanProject project;
    std::string second = leaking_source;
    second.replace(second.find("keep"), 4, "hold");
    std::string good = leaking_source;
    good.replace(good.find("if (wrong) return -2;"), 21, "if (wrong) { munlock(key, size); return -2; }");
    project.write("first.c", second);
    project.write("keep.c", good);
    git(project, {"init", "-q"});
    git(project, {"add", "."});
    git(project, {"commit", "-q", "-m", "first"});
    CHECK(project.scan({"--changed-since", "HEAD"}).exit_status == 0);
    project.write("keep.c", leaking_source);
    const json report = project.report({"--changed-since", "HEAD"});
    CHECK(report.at("summary").at("not_changed") == 1);
    REQUIRE(report.at("findings").size() == 1);
    CHECK_THAT(report.at("findings").at(0).at("location").at("file").get<std::string>(), ContainsSubstring("keep.c"));
    project.write("new.c", leaking_source);
    CHECK(project.report({"--changed-since", "HEAD"}).at("findings").size() == 2);
    CHECK(project.scan({"--changed-since", "no-such-branch"}).exit_status == 2);
}

TEST_CASE("Pins are raw pins where handles are required, but for the folders allowed") {
    const ScanProject project;
    project.write("app/keep.c", clean_source);
    project.write("backend/lock.c", clean_source);
    CHECK(project.scan().exit_status == 0);
    const json report = project.report({"--require-handles", "--allow-pins-in", "backend"});
    REQUIRE(report.at("findings").size() == 1);
    CHECK(report.at("findings").at(0).at("rule") == "raw-pin");
    CHECK_THAT(report.at("findings").at(0).at("location").at("file").get<std::string>(),
               ContainsSubstring("app/keep.c"));
}

TEST_CASE("A project's own pair of calls is as good as a built-in one") {
    const ScanProject project;
    project.write("acme.c", "int acme_pin(void **p, unsigned long n);\n"
                            "void acme_unpin(void *p);\n"
                            "int use(int wrong) {\n"
                            "    void *p;\n"
                            "    if (acme_pin(&p, 4096) != 0) return -1;\n"
                            "    if (wrong) return -2;\n"
                            "    acme_unpin(p);\n"
                            "    return 0;\n"
                            "}\n");
    CHECK(project.scan().exit_status == 0);
    project.write(".pinwarden.yaml", "apis:\n"
                                     "  - {name: acme_pin, kind: pin-out, family: acme, size-argument: 1}\n"
                                     "  - {name: acme_unpin, kind: release, family: acme}\n");
    const json report = project.report();
    REQUIRE(report.at("findings").size() == 1);
    CHECK(report.at("findings").at(0).at("rule") == "leak");
    CHECK(report.at("findings").at(0).at("location").at("line") == 5);
}

TEST_CASE("A project's settings switch rules off and skip files, and a wrong file stops the scan") {
    const ScanProject project;
    project.write("keep.c", leaking_source);
    project.write("third_party/old.c", leaking_source);
    project.write(".pinwarden.yaml", "skip: [third_party]\n");
    CHECK(project.report().at("findings").size() == 1);
    project.write(".pinwarden.yaml", "rules: {leak: off}\n");
    CHECK(project.scan().exit_status == 0);
    project.write(".pinwarden.yaml", "rules: {leek: off}\n");
    const auto run = project.scan();
    CHECK(run.exit_status == 2);
    CHECK_THAT(run.errors, ContainsSubstring(".pinwarden.yaml:1:9: "));
}
