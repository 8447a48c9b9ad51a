// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The program `pinwarden`, apart from the list of its subcommands.

#include "command/subcommand.hpp"

#include <gsl/span>

namespace pinwarden::command {

/// Reads the command line, runs the subcommand it names, and returns the exit status. Whatever goes wrong
/// becomes one line on the standard error stream and exit_could_not_run; no exception leaves.
[[nodiscard]] int run_program(int argument_count, const char* const* arguments,
                              gsl::span<const AddSubcommand> subcommands) noexcept;

}  // namespace pinwarden::command
