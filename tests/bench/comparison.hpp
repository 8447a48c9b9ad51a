// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Two ways to do one thing, timed side by side: the runs of both are interleaved at random, and what is compared is
/// their medians.
///
/// ```
/// compare({.what = "unpin 1 GiB", .baseline = "munlock + free", .least_ratio = 20.0}, time_baseline, time_ours);
/// ```

#include <functional>
#include <limits>
#include <string>

#include <benchmark/benchmark.h>

namespace pinwarden::bench {

/// What is compared, and what is aimed at.
struct Goal {
    std::string what;
    std::string baseline;                                              ///< the other way, in words
    double least_ratio = 0.0;                                          ///< how many times faster than the baseline
    double most_nanoseconds = std::numeric_limits<double>::infinity();  ///< of one iteration
    double most_extra_nanoseconds = std::numeric_limits<double>::infinity();  ///< beyond the baseline's
    bool manual_time = false;  ///< whether the timed functions set the time of each iteration themselves
    int repetitions = 9;
    int threads = 1;           ///< that do it our way at once; a throughput is compared then
};

/// Runs as many iterations as the state asks for.
using Timed = std::function<void(benchmark::State&)>;

/// Adds a comparison to the run.
void compare(Goal goal, Timed baseline, Timed ours);

/// Runs the comparisons that the arguments choose, and prints a row for each: both medians, the ratio, the goal.
/// @returns the program's exit status: 0 where all were run.
int run_comparisons(int argc, char** argv);

}  // namespace pinwarden::bench
