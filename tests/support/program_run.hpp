// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Runs a program as its users do, and tells what they see: exit status and both output streams.

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pinwarden::testing {

/// Under which circumstances a program runs.
struct ProgramCircumstances {
    std::map<std::string, std::string> environment{};  ///< on top of the test's own
    bool ordinary_user =
        false;  ///< without root's privileges and with 8 MiB of lockable memory, whoever runs the test
    std::optional<std::size_t> lock_limit{};  ///< bytes that may be locked; root's privileges are gone then
    std::optional<std::size_t>
        file_size_limit{};  ///< bytes that a file may have: what a full disk looks like
    std::string output{};   ///< a file that the standard output goes to; empty for ProgramRun::output
    /// Called with the process and the first line that it wrote to its standard error stream.
    std::function<void(::pid_t, const std::string&)> on_first_error_line{};
};

/// What came of it.
struct ProgramRun {
    int exit_status = -1;  ///< -1 if a signal ended the program
    int signal = 0;        ///< that signal
    std::string output;    ///< standard output
    std::string errors;    ///< standard error stream
};

/// Runs `program` with `arguments` and waits for its end.
/// @throws std::system_error if it cannot be started.
[[nodiscard]] ProgramRun run_program(const std::filesystem::path& program,
                                     const std::vector<std::string>& arguments,
                                     const ProgramCircumstances& circumstances = {});

}  // namespace pinwarden::testing
