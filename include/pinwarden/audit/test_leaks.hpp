// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// What a test left pinned, in the words in which a test framework fails it: the part of the listeners that knows no
/// framework, and the permission that a test may give itself.
///
/// ```
/// TEST_CASE("The cache keeps its buffers") {
///     pinwarden::audit::allow_leaks("the cache lives as long as the program");
///     ...
/// }
/// ```

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <pinwarden/audit/leak_guard.hpp>
#include <pinwarden/core/export.hpp>

namespace pinwarden::audit {

/// Allows the test that runs now to leave pins behind; the listener of its framework shows the reason instead of
/// failing it. Thread-safe.
/// @throws ConfigurationError if `reason` is empty.
PINWARDEN_API void allow_leaks(std::string_view reason);

/// One pin that a test left.
struct TestLeak {
    std::string file{};      ///< the source line that asked for it
    std::uint32_t line = 0;
    std::string text{};      ///< the pin in one line with that source line, label and size; then its stack, if any
};

/// The pins that a test left, live or still in flight.
struct TestLeaks {
    std::vector<TestLeak> leaks{};
    std::string allowed{};  ///< one sentence with the reason, if the test was allowed to leave them; empty otherwise
};

/// Watches one test after the other. One thread at a time; the tests may run as many as they like.
class PINWARDEN_API TestLeakCheck {
public:
    /// A test begins: what is pinned now is no business of it.
    void begin() noexcept;

    /// The test has ended, its local objects with it. Without a beginning it has left nothing.
    /// @param patience is how long pins may stay in flight that it left.
    /// @throws std::bad_alloc
    [[nodiscard]] TestLeaks end(std::chrono::nanoseconds patience);

private:
    std::optional<LeakGuard> guard_{};  // none between the tests
};

}  // namespace pinwarden::audit
