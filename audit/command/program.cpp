// SPDX-License-Identifier: Apache-2.0
#include "command/program.hpp"

#include "command/exit_status.hpp"
#include "command/output_file.hpp"
#include "command/version_command.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>

namespace pinwarden::command {

namespace {

/// `pinwarden`, and the subcommand if the command line got as far as naming one.
std::string called_as(const CLI::App& program) {
    const auto chosen = program.get_subcommands();
    return chosen.empty() ? program.get_name() : program.get_name() + " " + chosen.front()->get_name();
}

/// Writes one line, whatever is in `text`.
void complain(const std::string& who, std::string text) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    fmt::print(stderr, "{}: error: {}\n", who, text);
}

int run(CLI::App& program, int argument_count, const char* const* arguments, const int& exit_status) {
    try {
        program.parse(argument_count, arguments);
        return exit_status;
    } catch (const CLI::CallForVersion&) {
        write_to_standard_output(version_line() + "\n");
        return exit_clean;
    } catch (const CLI::CallForHelp&) {
        // The help asked for is that of the subcommand, where one was named.
        const auto chosen = program.get_subcommands();
        write_to_standard_output((chosen.empty() ? &program : chosen.front())->help());
        return exit_clean;
    } catch (const CLI::ParseError& error) {
        const std::string who = called_as(program);
        complain(who, fmt::format("{}; see `{} --help`.", error.what(), who));
    } catch (const std::bad_alloc&) {
        complain(called_as(program), "out of memory; ask for a smaller model, micro-batch or text.");
    } catch (const std::length_error&) {
        complain(called_as(program), "out of memory; ask for a smaller model, micro-batch or text.");
    } catch (const std::exception& error) {
        complain(called_as(program), error.what());
    }
    return exit_could_not_run;
}

}  // namespace

int run_program(int argument_count, const char* const* arguments,
                gsl::span<const AddSubcommand> subcommands) noexcept {
    try {
        int exit_status = exit_could_not_run;
        CLI::App program(
            "Pinned (page-locked) host memory under audit: who holds it, and that nobody is left holding it.\n"
            "Exit status: 0 clean, 1 something was found, 2 could not run.",
            "pinwarden");
        program.require_subcommand(1);
        program.set_version_flag("--version", version_line());
        for (const AddSubcommand add : subcommands) add(program, exit_status);
        return run(program, argument_count, arguments, exit_status);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "pinwarden: error: %s\n", error.what());
        return exit_could_not_run;
    }
}

}  // namespace pinwarden::command
