// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
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

struct Outcome {
    ProgramRun run;
    XmlElement junit;
};

Outcome run_leaky(const std::string& filter, const std::vector<std::string>& more = {}) {
    const TemporaryFolder folder;
    const auto file = folder / "tests.xml";
    std::vector<std::string> arguments = {"--gtest_filter=" + filter, "--gtest_output=xml:" + file.string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    ProgramRun run = run_program(PINWARDEN_LEAKY_GTEST, arguments);
    std::ifstream stream(file);
    std::ostringstream text;
    text << stream.rdbuf();
    return {std::move(run), parse_xml(text.str())};
}

}  // namespace

TEST_CASE("GoogleTest tests that leave nothing pass, whatever their fixtures and suites hold", "[listeners]") {
    const Outcome outcome = run_leaky("Clean.*");
    CHECK(outcome.run.exit_status == 0);
    CHECK(outcome.junit.all("testcase").size() == 2);
    CHECK(outcome.junit.all("failure").empty());
}

TEST_CASE("A GoogleTest test that fails by itself is not said to leave a pin", "[listeners]") {
    const Outcome outcome = run_leaky("Fails.*");
    CHECK(outcome.run.exit_status == 1);
    CHECK(outcome.junit.all("failure").size() == 2);
    CHECK_THAT(outcome.run.output, !ContainsSubstring("left a pin"));
}

TEST_CASE("A GoogleTest test that leaves a pin fails on the console and in the XML file, at the pin's source line",
          "[listeners]") {
    struct Expected {
        const char* filter;
        std::vector<std::string> labels;
    };
    const auto expected =
        GENERATE(Expected{"Leaky.Plain", {"weights"}}, Expected{"Leaky.Twice", {"first", "second"}},
                 Expected{"Leaky.InAThread", {"left by a thread"}},
                 Expected{"Forgetful.*", {"forgotten by the fixture"}}, Expected{"Typed/*", {"left for int"}},
                 Expected{"*Parameterised*", {"left for two"}});
    CAPTURE(expected.filter);
    const Outcome outcome = run_leaky(expected.filter);
    CHECK(outcome.run.exit_status == 1);
    const auto failures = outcome.junit.all("failure");
    REQUIRE(failures.size() == expected.labels.size());
    for (std::size_t index = 0; index < failures.size(); ++index) {
        const std::string pin = "live '" + expected.labels[index] + "' of 1024 bytes (1.0 KiB)";
        CHECK_THAT(failures[index]->text, ContainsSubstring(pin) && ContainsSubstring("leaky_gtest.cpp:"));
        CHECK_THAT(outcome.run.output, ContainsSubstring(pin));
    }
    CHECK_THAT(outcome.run.output, ContainsSubstring("leaky_gtest.cpp:") && ContainsSubstring(": Failure\n"));
}

TEST_CASE("A GoogleTest test that fails or throws and leaves a pin shows both", "[listeners]") {
    for (const std::string test : {"Leaky.AndFails", "Leaky.AndThrows"}) {
        CAPTURE(test);
        const Outcome outcome = run_leaky(test);
        REQUIRE(outcome.junit.all("failure").size() == 2);
        CHECK_THAT(outcome.junit.all("failure")[0]->text, ContainsSubstring("on purpose"));
        CHECK_THAT(outcome.junit.all("failure")[1]->text, ContainsSubstring("the test left a pin"));
    }
}

TEST_CASE("A GoogleTest test that is allowed to leave pins passes and shows the reason", "[listeners]") {
    const Outcome outcome = run_leaky("Allowed.*");
    CHECK(outcome.run.exit_status == 0);
    CHECK_THAT(outcome.run.output, ContainsSubstring("the cache lives as long as the program"));
    const auto properties = outcome.junit.all("property");
    REQUIRE(properties.size() == 1);
    CHECK(properties[0]->attribute("name") == "pinwarden_allowed");
    CHECK_THAT(properties[0]->attribute("value"), ContainsSubstring("1 pin of 1024 bytes"));
}

TEST_CASE("Each GoogleTest test answers for its own pins only, in whatever order they run and however often",
          "[listeners]") {
    const std::string seed = GENERATE("1", "2");
    const Outcome outcome =
        run_leaky("Clean.*:Leaky.Plain:Allowed.*",
                  {"--gtest_shuffle", "--gtest_random_seed=" + seed, "--gtest_repeat=2"});
    CHECK(outcome.run.exit_status == 1);
    CHECK(outcome.junit.all("failure").size() == 1);
}

}  // namespace pinwarden::testing
