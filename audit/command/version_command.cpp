// SPDX-License-Identifier: Apache-2.0
#include "command/version_command.hpp"

#include "command/output_file.hpp"
#include "command/exit_status.hpp"
#include "command/subcommand.hpp"

#include <CLI/CLI.hpp>

namespace pinwarden::command {

std::string version_line() {
    return "pinwarden " PINWARDEN_VERSION;
}

std::string version_number() {
    return PINWARDEN_VERSION;
}

void add_version(CLI::App& program, int& exit_status) {
    CLI::App* const version = program.add_subcommand("version", "Print the version and exit");
    version->callback([&exit_status] {
        write_to_standard_output(version_line() + "\n");
        exit_status = exit_clean;
    });
}

}  // namespace pinwarden::command
