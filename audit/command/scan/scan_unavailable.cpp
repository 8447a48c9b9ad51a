// SPDX-License-Identifier: Apache-2.0
#include "command/subcommand.hpp"

#include <pinwarden/core/error.hpp>

#include <CLI/CLI.hpp>

namespace pinwarden::command {

void add_scan(CLI::App& program, int&) {
    CLI::App* const app =
        program.add_subcommand("scan", "Find mistakes with pinned memory in sources (not in this build)");
    app->allow_extras();
    app->callback([] {
        throw ConfigurationError(
            "This pinwarden was built without its static auditor, which needs Clang 19; install "
            "libclang-19-dev, libclang-cpp19-dev and llvm-19-dev, and build again with "
            "-DPINWARDEN_BUILD_SCAN=ON.");
    });
}

void add_scan_file(CLI::App&, int&) {}

}  // namespace pinwarden::command
