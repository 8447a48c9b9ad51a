// SPDX-License-Identifier: Apache-2.0
#include "command/program.hpp"
#include "command/subcommand.hpp"

#include <array>

int main(int argument_count, char** arguments) {
    using namespace pinwarden::command;
    constexpr std::array subcommands = {&add_train, &add_scan, &add_report, &add_version};
    return run_program(argument_count, arguments, subcommands);
}
