// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The subcommands: each has a file of its own, a function declared here, and a row in main.cpp.

namespace CLI {
class App;
}

namespace pinwarden::command {

/// Adds one subcommand to the program: its name, its options, and a callback that does the work and stores an
/// ExitStatus in `exit_status`. Both arguments outlive the parsing. A callback that cannot run throws; the
/// text of the exception becomes the line that the user sees.
using AddSubcommand = void (*)(CLI::App& program, int& exit_status);

void add_report(CLI::App& program, int& exit_status);
void add_scan(CLI::App& program, int& exit_status);
void add_train(CLI::App& program, int& exit_status);
void add_version(CLI::App& program, int& exit_status);

}  // namespace pinwarden::command
