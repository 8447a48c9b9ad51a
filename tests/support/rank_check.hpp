// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Assertions for the threads of ranks, where Catch2's own must not be used.
///
/// ```
/// zero::run_ranks(2, [](const zero::CommunicatorPtr& ranks) { ensure(ranks->size() == 2); });
/// ```
/// A failed one leaves the rank as an exception, and run_ranks() hands it to the test.

#include <source_location>
#include <stdexcept>
#include <string>

namespace pinwarden::testing {

/// @throws std::logic_error that names the line, unless `condition` holds
inline void ensure(bool condition, const std::string& about = {},
                   const std::source_location& here = std::source_location::current()) {
    if (condition) return;
    throw std::logic_error(std::string(here.file_name()) + ":" + std::to_string(here.line()) +
                           ": what must hold does not" + (about.empty() ? "" : ": " + about));
}

/// Ensures that `call` throws an E whose text has `part` in it.
template <typename E, typename Call>
void ensure_throws(Call call, const std::string& part,
                   const std::source_location& here = std::source_location::current()) {
    try {
        call();
    } catch (const E& error) {
        ensure(std::string(error.what()).find(part) != std::string::npos, error.what(), here);
        return;
    }
    ensure(false, "nothing was thrown", here);
}

}  // namespace pinwarden::testing
