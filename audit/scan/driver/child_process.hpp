// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Runs a program with an input, a time limit and a memory limit, and never lets it harm this process.

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace pinwarden::scan {

struct ChildLimits {
    std::chrono::milliseconds time{};
    std::uint64_t memory_bytes = 0;  ///< of private memory; 0: no limit
};

struct ChildResult {
    bool timed_out = false;
    int signal = 0;     ///< that ended it; 0: it exited by itself
    int exit_code = 0;  ///< if it exited by itself
    std::string output;
    std::string errors;
};

/// Runs `command`, its first word being the program's path, and waits for it. Thread-safe.
/// @throws std::system_error if the system gives no process or no file in memory.
[[nodiscard]] ChildResult run_child(const std::vector<std::string>& command, const std::string& input,
                                    const ChildLimits& limits);

}  // namespace pinwarden::scan
