// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The program `pinwarden` of this build, for tests.

#include <support/program_run.hpp>

#include <string>
#include <vector>

namespace pinwarden::testing {

/// Runs the program with `DS_PIN_MEMORY_BACKEND=native`, unless the circumstances say something else of it.
[[nodiscard]] inline ProgramRun run_pinwarden(const std::vector<std::string>& arguments,
                                              ProgramCircumstances circumstances = {}) {
    circumstances.environment.try_emplace("DS_PIN_MEMORY_BACKEND", "native");
    return run_program(PINWARDEN_PROGRAM, arguments, circumstances);
}

/// `train` with a model small enough to be trained in no time, and `more` arguments.
[[nodiscard]] inline std::vector<std::string> quick_training(const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"train", "--quiet", "--context", "4", "--hidden", "16"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
}

}  // namespace pinwarden::testing
