// SPDX-License-Identifier: Apache-2.0
#include <command/program.hpp>

#include <command/exit_status.hpp>

#include <CLI/CLI.hpp>
#include <catch2/catch_test_macros.hpp>

#include <array>
#include <initializer_list>
#include <new>
#include <stdexcept>
#include <vector>

using namespace pinwarden::command;

namespace {

void add_answer(CLI::App& program, int& exit_status) {
    program.add_subcommand("answer")->callback([&exit_status] { exit_status = 42; });
}

void add_fail(CLI::App& program, int&) {
    program.add_subcommand("fail")->callback([] { throw std::runtime_error("no\nway"); });
}

void add_exhaust(CLI::App& program, int&) {
    program.add_subcommand("exhaust")->callback([] { throw std::bad_alloc(); });
}

int run(std::initializer_list<const char*> arguments) {
    constexpr std::array subcommands = {&add_answer, &add_fail, &add_exhaust};
    std::vector<const char*> all = {"pinwarden"};
    all.insert(all.end(), arguments);
    return run_program(static_cast<int>(all.size()), all.data(), subcommands);
}

}  // namespace

TEST_CASE("The exit status is the one that the subcommand stored") {
    CHECK(run({"answer"}) == 42);
}

TEST_CASE("What a subcommand throws becomes the status of what could not run") {
    CHECK(run({"fail"}) == exit_could_not_run);
    CHECK(run({"exhaust"}) == exit_could_not_run);
}

TEST_CASE("A wrong command line could not run, and asking for help or the version could") {
    CHECK(run({}) == exit_could_not_run);
    CHECK(run({"fly"}) == exit_could_not_run);
    CHECK(run({"answer", "--fly"}) == exit_could_not_run);
    CHECK(run({"answer", "more"}) == exit_could_not_run);
    CHECK(run({"answer", "fail"}) == exit_could_not_run);
    CHECK(run({"--help"}) == exit_clean);
    CHECK(run({"answer", "--help"}) == exit_clean);
    CHECK(run({"--version"}) == exit_clean);
}
