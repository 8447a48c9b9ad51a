// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <support/program_run.hpp>
#include <support/temporary_folder.hpp>
#include <support/xml.hpp>

namespace pinwarden::testing {

namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

std::string content(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

ProgramRun end_by(const std::string& mode, const std::string& report) {
    return run_program(PINWARDEN_EXIT_MOMENTS, {mode}, {.environment = {{"PINWARDEN_REPORT_AT_EXIT", report}}});
}

void check_silent_success(const ProgramRun& run) {
    CHECK(run.exit_status == 0);
    CHECK(run.signal == 0);
    CHECK(run.output.empty());
    CHECK(run.errors.empty());
}

}  // namespace

TEST_CASE("Handles that end with the program are no leak in its report", "[exit]") {
    const TemporaryFolder folder;
    for (const std::string mode : {"static", "thread_local"}) {
        CAPTURE(mode);
        const auto report = folder.path() / (mode + ".txt");
        check_silent_success(end_by(mode, report.string()));
        CHECK_THAT(content(report), ContainsSubstring("no pin is live and none is in flight"));
    }
}

TEST_CASE("Trap 6: handles that outlive the program's end are in its report, and nothing crashes", "[exit]") {
    const TemporaryFolder folder;
    for (const std::string mode : {"detached", "signal", "quick_exit"}) {
        CAPTURE(mode);
        const auto report = folder.path() / (mode + ".txt");
        check_silent_success(end_by(mode, report.string()));
        CHECK_THAT(content(report), ContainsSubstring("the process: 1 live and 0 in flight"));
        CHECK_THAT(content(report), ContainsSubstring("live '" + mode + "'"));
    }
}

TEST_CASE("A signal handler that exits in the middle of the audit ends the program, and says that there is no report",
          "[exit]") {
    const TemporaryFolder folder;
    const auto report = folder.path() / "report.txt";
    const ProgramRun run = end_by("interrupted", report.string());
    CHECK(run.exit_status == 0);
    CHECK(run.signal == 0);
    CHECK_THAT(run.errors, ContainsSubstring("a signal handler has called exit() and interrupted the audit"));
    CHECK_FALSE(std::filesystem::exists(report));
    check_silent_success(end_by("interrupted", ""));
}

TEST_CASE("An end that runs nothing writes no report", "[exit]") {
    const TemporaryFolder folder;
    const auto report = folder.path() / "report.txt";
    check_silent_success(end_by("_exit", report.string()));
    CHECK_FALSE(std::filesystem::exists(report));
}

TEST_CASE("The report at exit is JSON where its name says so, and %p is the process", "[exit]") {
    const TemporaryFolder folder;
    check_silent_success(end_by("quick_exit", (folder.path() / "report-%p.json").string()));
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
        ++files;
        const std::string name = entry.path().filename().string();
        CHECK_THAT(name, !ContainsSubstring("%p"));
        CHECK(std::stoi(name.substr(std::string("report-").size())) > 1);
        CHECK_THAT(content(entry.path()), ContainsSubstring("\"schema\": \"pinwarden-leak-report\"") &&
                                              ContainsSubstring("\"label\": \"quick_exit\""));
    }
    CHECK(files == 1);
}

TEST_CASE("The report at exit is JUnit or SARIF where its name says so, and text for an unknown ending", "[exit]") {
    const TemporaryFolder folder;
    for (const std::string name : {"report.xml", "report.sarif", "report.log"}) {
        check_silent_success(end_by("quick_exit", (folder.path() / name).string()));
    }
    const auto junit = parse_xml(content(folder.path() / "report.xml"));
    REQUIRE(junit.all("failure").size() == 1);
    CHECK_THAT(junit.all("failure")[0]->attribute("message"),
               ContainsSubstring("live 'quick_exit'") && ContainsSubstring("exit_moments.cpp:"));
    CHECK_THAT(content(folder.path() / "report.sarif"), ContainsSubstring("\"ruleId\": \"live-pin\"") &&
                                                            ContainsSubstring("exit_moments.cpp\""));
    CHECK_THAT(content(folder.path() / "report.log"), StartsWith("the process: 1 live and 0 in flight\n"));
}

TEST_CASE("PINWARDEN_STACKS puts the calls that led to a pin into the report at exit, in every format", "[exit]") {
    const TemporaryFolder folder;
    for (const std::string name : {"report.txt", "report.json", "report.xml", "report.sarif"}) {
        CAPTURE(name);
        const auto report = folder.path() / name;
        const ProgramRun run = run_program(
            PINWARDEN_EXIT_MOMENTS, {"quick_exit"},
            {.environment = {{"PINWARDEN_REPORT_AT_EXIT", report.string()}, {"PINWARDEN_STACKS", "12"}}});
        check_silent_success(run);
        CHECK_THAT(content(report), ContainsSubstring("main"));
    }
    CHECK_THAT(content(folder.path() / "report.json"), ContainsSubstring("\"stack\": ["));
    CHECK_THAT(content(folder.path() / "report.sarif"), ContainsSubstring("\"frames\": ["));
    CHECK_THAT(content(folder.path() / "report.txt"), ContainsSubstring("\n    by "));
}

TEST_CASE("A number of stack frames that is none is one clear line, and the program runs", "[exit]") {
    for (const std::string value : {"many", "-1", "65", "8 "}) {
        const ProgramRun run =
            run_program(PINWARDEN_EXIT_MOMENTS, {"static"}, {.environment = {{"PINWARDEN_STACKS", value}}});
        CHECK(run.exit_status == 0);
        CHECK_THAT(run.errors, ContainsSubstring("PINWARDEN_STACKS='" + value + "' is not a whole number from 0 to"));
        CHECK(run.errors.find('\n') == run.errors.size() - 1);
    }
}

TEST_CASE("A report that cannot be written is one clear line, and the exit status stays", "[exit]") {
    const ProgramRun run = end_by("static", "/nonexistent/folder/report.txt");
    CHECK(run.exit_status == 0);
    CHECK_THAT(run.errors, ContainsSubstring("PINWARDEN_REPORT_AT_EXIT=/nonexistent/folder/report.txt") &&
                               ContainsSubstring("No such file or directory"));
    CHECK(run.errors.find('\n') == run.errors.size() - 1);
}

}  // namespace pinwarden::testing
