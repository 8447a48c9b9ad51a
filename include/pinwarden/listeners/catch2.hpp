// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Fails each Catch2 test that leaves a pin behind: link `pinwarden::catch2`, and write one line in one source file.
///
/// Checked is each run of a test case from its start to its end, once for each section and generated value; what was
/// pinned before, as by a fixture of the whole case or a static pool, does not count. A pin that is left fails the test
/// with its label, size and source line, in every reporter. `audit::allow_leaks()` lets one test be.
///
/// ```
/// static const pinwarden::listeners::Catch2 tests_leave_no_pins;
/// ```

#include <chrono>

namespace pinwarden::listeners {

/// Turns the check on for the rest of the program.
class Catch2 {
public:
    /// @param patience is how long the pins that a test left may stay in flight before they fail it.
    explicit Catch2(std::chrono::nanoseconds patience = std::chrono::seconds(1)) noexcept;
};

}  // namespace pinwarden::listeners
