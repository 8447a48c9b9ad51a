// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Proves that a part of a program leaves no pin behind, whoever made it: for tests, in any framework.
///
/// A guard remembers which pins there are when it begins, and answers for those that were asked for since then. What
/// was there before, as a fixture's buffers or a static pool, does not count; a pin at an address that another pin had
/// before does. For Catch2 and GoogleTest there are listeners that do this for each test: see docs/testing.md.
///
/// Cost: the beginning takes well under a microsecond and no memory; report() is linear in the pins of the process.
///
/// ```
/// pinwarden::audit::LeakGuard guard;
/// run_the_code_under_test();
/// if (auto report = guard.close(std::chrono::seconds(1)); !report.is_clean()) fail(to_text(report));
/// ```

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include <pinwarden/audit/leak_report.hpp>
#include <pinwarden/core/export.hpp>

namespace pinwarden::audit {

/// Answers for the pins of the process, of all threads, that were asked for after its beginning. One thread at a time.
class [[nodiscard]] PINWARDEN_API LeakGuard {
public:
    /// Begins now.
    LeakGuard() noexcept { restart(); }

    LeakGuard(const LeakGuard&) = delete;
    LeakGuard& operator=(const LeakGuard&) = delete;

    /// Reports pins that are live through the release-failure handler, unless close() was called.
    ~LeakGuard();

    /// Begins anew: what is pinned now does not count any more.
    void restart() noexcept;

    /// The pins that were asked for since the beginning and are still there.
    /// @throws std::bad_alloc
    [[nodiscard]] LeakReport report() const;

    /// Waits until none of them is in flight or `deadline` has passed, and reports what is left.
    /// @throws std::bad_alloc
    [[nodiscard]] LeakReport close(std::chrono::nanoseconds deadline);

private:
    std::array<std::uint64_t, 16> mark_{};  // the last pin of each part of the registry
    bool closed_ = false;
};

}  // namespace pinwarden::audit
