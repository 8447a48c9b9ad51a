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

/// `pinwarden`, and the subcommands that the command line got as far as naming.
std::string called_as(const CLI::App& program) {
    const auto chosen = program.get_subcommands();
    return chosen.empty() ? program.get_name() : program.get_name() + " " + called_as(*chosen.front());
}

/// Writes one line, whatever is in `text`.
void complain(const std::string& who, std::string text) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    fmt::print(stderr, "{}: error: {}\n", who, text);
}

/// Whether the first argument is no word of the program's: the parser would only say that a subcommand is
/// missing.
bool starts_with_unknown_word(const CLI::App& program, int argument_count, const char* const* arguments) {
    if (argument_count < 2) return false;
    const std::string word = arguments[1];
    const auto& known = program.get_subcommands([](const CLI::App*) { return true; });
    return word != "--help" && word != "-h" && word != "--version" &&
           std::none_of(known.begin(), known.end(),
                        [&](const CLI::App* subcommand) { return subcommand->check_name(word); });
}

/// The names of all subcommands, for messages.
std::string subcommand_names(const CLI::App& program) {
    std::string names;
    for (const CLI::App* subcommand : program.get_subcommands([](const CLI::App*) { return true; })) {
        if (subcommand->get_group().empty()) continue;  // hidden: it is for the program itself
        names += (names.empty() ? "" : ", ") + subcommand->get_name();
    }
    return names;
}

int run(CLI::App& program, int argument_count, const char* const* arguments, const int& exit_status) {
    if (starts_with_unknown_word(program, argument_count, arguments)) {
        complain(program.get_name(),
                 fmt::format("'{}' is not a subcommand; there are: {}; see `{} --help`.", arguments[1],
                             subcommand_names(program), program.get_name()));
        return exit_could_not_run;
    }
    try {
        program.parse(argument_count, arguments);
        return exit_status;
    } catch (const CLI::CallForVersion&) {
        write_to_standard_output(version_line() + "\n");
        return exit_clean;
    } catch (const CLI::CallForHelp&) {
        // The help asked for is that of the subcommand, where one was named.
        const auto chosen = program.get_subcommands();
        write_to_standard_output(chosen.empty() ? program.help() : chosen.front()->help(program.get_name()));
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
            "Pinned (page-locked) host memory under audit: who holds it, and that nobody still does.\n"
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
