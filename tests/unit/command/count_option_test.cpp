// SPDX-License-Identifier: Apache-2.0
#include <command/count_option.hpp>

#include <pinwarden/core/error.hpp>

#include <CLI/CLI.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace pinwarden::command;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using pinwarden::ConfigurationError;

TEST_CASE("Decimal digits are a number, leading zeros and both ends of the range included") {
    CHECK(parse_count("1", "--steps", {1, 300}) == 1);
    CHECK(parse_count("300", "--steps", {1, 300}) == 300);
    CHECK(parse_count("010", "--steps", {1, 300}) == 10);
    CHECK(parse_count("18446744073709551615", "--seed", {0, UINT64_MAX}) == UINT64_MAX);
}

TEST_CASE("Everything else is refused with the option, what was found and what is valid") {
    const std::string text =
        GENERATE("", "0", "301", "-1", "+1", " 1", "1 ", "1e2", "1.0", "0x10", "ten", "18446744073709551616");
    CHECK_THROWS_MATCHES(
        parse_count(text, "--steps", {1, 300}), ConfigurationError,
        MessageMatches(ContainsSubstring("--steps: '" + text + "'") && ContainsSubstring("from 1 to 300")));
}

TEST_CASE("The option stores its number, and the help shows the range's default") {
    CLI::App app;
    std::uint64_t value = 42;
    add_count_option(app, "--steps", value, {1, 300}, "How many");
    CHECK_THAT(app.help(), ContainsSubstring("42") && ContainsSubstring("How many"));
    app.parse("--steps 7");
    CHECK(value == 7);
    CHECK_THROWS_AS(app.parse("--steps 0"), ConfigurationError);
}
