// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Fails each GoogleTest test that leaves a pin behind: link `pinwarden::gtest`, and write one line in one source file.
///
/// Checked is each test from before its fixture is made until after it is destroyed; what was pinned before, as in
/// `SetUpTestSuite()` or by a static pool, does not count. A pin that is left fails the test at the source line that
/// asked for it, with label and size, on the console and in the XML file. `audit::allow_leaks()` lets one test be.
///
/// ```
/// static const pinwarden::listeners::GoogleTest tests_leave_no_pins;
/// ```

#include <chrono>

namespace pinwarden::listeners {

/// Turns the check on for the rest of the program. One object of this type is enough.
class GoogleTest {
public:
    /// @param patience is how long the pins that a test left may stay in flight before they fail it.
    explicit GoogleTest(std::chrono::nanoseconds patience = std::chrono::seconds(1));
};

}  // namespace pinwarden::listeners
