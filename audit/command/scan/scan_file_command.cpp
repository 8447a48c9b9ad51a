// SPDX-License-Identifier: Apache-2.0
#include "command/exit_status.hpp"
#include "command/output_file.hpp"
#include "command/subcommand.hpp"
#include "scan/analyse.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <iostream>

namespace pinwarden::command {

// The child of `pinwarden scan`: one file, described by JSON on the standard input, the result as JSON on the
// standard output. A compiler that crashes or eats all memory takes only this process with it.
void add_scan_file(CLI::App& program, int& exit_status) {
    CLI::App* const app = program.add_subcommand("scan-file", "Analyse one file for `pinwarden scan`");
    app->group("");
    app->callback([&exit_status] {
        const auto request = nlohmann::json::parse(std::cin).get<scan::AnalyseRequest>();
        const nlohmann::json result = scan::analyse_file(request);
        write_to_standard_output(
            result.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
        exit_status = exit_clean;
    });
}

}  // namespace pinwarden::command
