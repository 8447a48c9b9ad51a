// SPDX-License-Identifier: Apache-2.0
#include <command/pinwarden_program.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
using pinwarden::testing::run_pinwarden;

TEST_CASE("The version is one line on the standard output, asked for either way") {
    const std::string argument = GENERATE("version", "--version");
    const auto run = run_pinwarden({argument});
    CHECK(run.exit_status == 0);
    CHECK(run.output == "pinwarden " PINWARDEN_VERSION "\n");
    CHECK(run.errors.empty());
}

TEST_CASE("The help lists the subcommands, and that of a subcommand its options with their defaults") {
    const auto program = run_pinwarden({"--help"});
    CHECK(program.exit_status == 0);
    CHECK_THAT(program.output, ContainsSubstring("train") && ContainsSubstring("version"));
    const auto train = run_pinwarden({"train", "--help"});
    CHECK(train.exit_status == 0);
    for (const char* option :
         {"--config", "--text", "--steps", "--summary", "--seed", "--context", "--quiet"}) {
        CHECK_THAT(train.output, ContainsSubstring(option));
    }
    CHECK_THAT(train.output, ContainsSubstring("Usage: pinwarden train [OPTIONS]"));
    CHECK_THAT(train.output,
               ContainsSubstring("/usr/share/common-licenses/GPL-3") && ContainsSubstring("300"));
    CHECK(train.errors.empty());
}

TEST_CASE("A wrong command line is one line of error, exit status 2, and nothing on the standard output") {
    const auto arguments =
        GENERATE(std::vector<std::string>{}, std::vector<std::string>{"fly"},
                 std::vector<std::string>{"train", "--fly"}, std::vector<std::string>{"train", "--steps"},
                 std::vector<std::string>{"train", "extra"},
                 std::vector<std::string>{"train", "--steps", "1", "--steps", "2"},
                 std::vector<std::string>{"version", "1"});
    const auto run = run_pinwarden(arguments);
    CHECK(run.exit_status == 2);
    CHECK(run.output.empty());
    CHECK_THAT(run.errors, StartsWith("pinwarden") && ContainsSubstring("--help"));
    CHECK(std::count(run.errors.begin(), run.errors.end(), '\n') == 1);
}

TEST_CASE("A word that is no subcommand is answered with those that there are") {
    const auto run = run_pinwarden({"fly", "--high"});
    CHECK_THAT(run.errors, ContainsSubstring("'fly'") && ContainsSubstring("train, scan, report, version"));
}

TEST_CASE("A standard output that takes nothing is an error") {
    const auto run = run_pinwarden({"version"}, {.output = "/dev/full"});
    CHECK(run.exit_status == 2);
    CHECK_THAT(run.errors,
               ContainsSubstring("standard output") && ContainsSubstring("No space left on device"));
}
