// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <support/program_run.hpp>
#include <support/temporary_folder.hpp>
#include <support/xml.hpp>

namespace pinwarden::testing {

namespace {

using Catch::Matchers::ContainsSubstring;

ProgramRun run_leaky(std::vector<std::string> arguments) { return run_program(PINWARDEN_LEAKY_CATCH2, arguments); }

XmlElement junit_of(const std::string& tests) {
    const ProgramRun run = run_leaky({tests, "--reporter", "junit"});
    return parse_xml(run.output);
}

/// The console breaks lines where it likes.
std::string on_one_line(std::string text) {
    std::ranges::replace(text, '\n', ' ');
    text.erase(std::unique(text.begin(), text.end(), [](char a, char b) { return a == ' ' && b == ' '; }), text.end());
    return text;
}

std::size_t times(const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
}

}  // namespace

TEST_CASE("Catch2 tests that leave nothing pass, whatever their fixtures hold", "[listeners]") {
    const ProgramRun run = run_leaky({"[clean]"});
    CHECK(run.exit_status == 0);
    CHECK_THAT(run.output, ContainsSubstring("All tests passed"));
    CHECK(run.errors.empty());
}

TEST_CASE("A Catch2 test that fails by itself is not said to leave a pin", "[listeners]") {
    const ProgramRun run = run_leaky({"[fails]"});
    CHECK(run.exit_status != 0);
    CHECK_THAT(run.output, ContainsSubstring("2 failed") && ContainsSubstring("thrown on purpose"));
    CHECK_THAT(run.output, !ContainsSubstring("left a pin"));
}

TEST_CASE("A Catch2 test that leaves a pin fails on the console with label, size and source line", "[listeners]") {
    const ProgramRun run = run_leaky({"leaky"});
    CHECK(run.exit_status != 0);
    CHECK(run.signal == 0);
    const std::string flat = on_one_line(run.output);
    CHECK_THAT(flat, ContainsSubstring("the test left a pin:") && ContainsSubstring("leaky_catch2.cpp:") &&
                         ContainsSubstring("live 'weights' of 1024 bytes (1.0 KiB)"));
    CHECK_THAT(run.output, ContainsSubstring("test cases: 1 | 1 failed"));
}

TEST_CASE("A Catch2 test that leaves a pin fails in JUnit, once for each pin and each run that left it",
          "[listeners]") {
    struct Expected {
        const char* tests;
        std::vector<std::string> labels;
    };
    const auto expected = GENERATE(
        Expected{"[plain]", {"weights"}}, Expected{"[twice]", {"first", "second"}},
        Expected{"[sections]", {"left in a section"}}, Expected{"[generators]", {"left for two"}},
        Expected{"[types]", {"left for int"}}, Expected{"[fixture]", {"forgotten by the fixture"}},
        Expected{"[threads]", {"left by a thread"}}, Expected{"[address]", {"again"}});
    CAPTURE(expected.tests);
    const XmlElement junit = junit_of(expected.tests);
    const auto failures = junit.all("failure");
    REQUIRE(failures.size() == expected.labels.size());
    for (std::size_t index = 0; index < failures.size(); ++index) {
        CHECK_THAT(failures[index]->text, ContainsSubstring("live '" + expected.labels[index] + "' of 1024 bytes") &&
                                              ContainsSubstring("leaky_catch2.cpp:"));
    }
    CHECK(junit.all("testsuite").at(0)->attribute("failures") == std::to_string(failures.size()));
}

TEST_CASE("A Catch2 test that fails or throws and leaves a pin shows both", "[listeners]") {
    const XmlElement failing = junit_of("[failing]");
    REQUIRE(failing.all("failure").size() == 2);
    CHECK_THAT(failing.all("failure")[0]->text + failing.all("failure")[1]->text,
               ContainsSubstring("'left by a failure'"));
    const XmlElement throwing = junit_of("[throwing]");
    CHECK(throwing.all("error").size() == 1);
    REQUIRE(throwing.all("failure").size() == 1);
    CHECK_THAT(throwing.all("failure")[0]->text, ContainsSubstring("'left by an exception'"));
}

TEST_CASE("A Catch2 test that is allowed to leave pins passes and shows the reason", "[listeners]") {
    const ProgramRun run = run_leaky({"[allowed]"});
    CHECK(run.exit_status == 0);
    CHECK_THAT(on_one_line(run.output), ContainsSubstring("the cache lives as long as the program"));
}

TEST_CASE("Each Catch2 test answers for its own pins only, in whatever order they run", "[listeners]") {
    const std::string seed = GENERATE("1", "2", "3");
    const ProgramRun run = run_leaky({"[clean],[plain],[allowed],[threads]", "--order", "rand", "--rng-seed", seed,
                                      "--reporter", "junit"});
    const auto failures = parse_xml(run.output).all("failure");
    CHECK(failures.size() == 2);
}

TEST_CASE("All leaky Catch2 tests fail in one run, also if it is to stop at the first", "[listeners]") {
    const ProgramRun all = run_leaky({"[leaky]"});
    CHECK(all.signal == 0);
    CHECK_THAT(all.output, ContainsSubstring("failed"));
    CHECK(times(all.output, "the test left a pin") == 11);
    const ProgramRun first = run_leaky({"[leaky]", "--abort"});
    CHECK(first.signal == 0);
    CHECK(first.exit_status != 0);
    CHECK(times(first.output, "the test left a pin") == 1);
}

}  // namespace pinwarden::testing
