// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Comments by which the author of the code says that a finding is wanted:
///
///     cudaHostAlloc(&table, n, 0);  // pinwarden: allow(leak) lives as long as the process
///     mlock(key, n);                // NOLINT(pinwarden-leak)
///
/// A comment counts for its own line; one that has its line to itself, and NOLINTNEXTLINE, for the next.

#include "scan/finding.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace pinwarden::scan {

/// The rule under which a suppression without a reason is itself reported.
inline constexpr std::string_view reasonless_rule = "allow-without-reason";

/// The lines of a text, without their ends.
[[nodiscard]] std::vector<std::string> split_lines(std::string_view text);

/// True if a comment in `lines` allows `rule` at `line`, which counts from 1.
[[nodiscard]] bool is_suppressed(const std::vector<std::string>& lines, unsigned line,
                                 const std::string& rule);

/// A finding for every `pinwarden: allow(...)` in `lines` that gives no reason.
[[nodiscard]] std::vector<Finding> reasonless_suppressions(const std::string& file,
                                                           const std::vector<std::string>& lines);

}  // namespace pinwarden::scan
