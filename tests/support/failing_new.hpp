// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Makes the n-th allocation of an operation fail, for every n, until the operation gets through.
///
/// A program that links `pinwarden_failing_new` has its `operator new` replaced by one that counts. Only the
/// thread that armed a FailingNew is counted and refused: work on other threads goes on as usual.
///
/// ```
/// const std::size_t failures = for_each_failing_new([&] { engine.offload_states(all); },   // may throw
/// bad_alloc
///                                                   [&] { CHECK(engine.location(state) == resident); });
/// CHECK(failures > 0);
/// ```
/// The non-throwing forms of `operator new` answer null instead; code that does without the memory then gets
/// through and is called again for the next n.

#include <cstddef>
#include <new>

namespace pinwarden::testing {

/// While it lives, the `nth` allocation of this thread from now on, counted from one, fails, and only that
/// one. One at a time on each thread.
class [[nodiscard]] FailingNew {
public:
    explicit FailingNew(std::size_t nth) noexcept;
    FailingNew(const FailingNew&) = delete;
    FailingNew& operator=(const FailingNew&) = delete;
    ~FailingNew();

    /// Whether that allocation was reached.
    [[nodiscard]] bool failed() const noexcept;
};

/// How many times this thread has called any form of `operator new`.
[[nodiscard]] std::size_t allocations_of_this_thread() noexcept;

/// Calls `operation` with its first, second, third, … allocation failing, until no allocation is left to
/// fail, and `after_failure` whenever it threw. `operation` must start from the same state each time; what it
/// throws but `std::bad_alloc` leaves.
/// @returns how many times an allocation failed.
template <typename Operation, typename AfterFailure>
std::size_t for_each_failing_new(Operation&& operation, AfterFailure&& after_failure) {
    for (std::size_t nth = 1;; ++nth) {
        bool failed = false;
        bool threw = false;
        {
            const FailingNew failing(nth);
            try {
                operation();
            } catch (const std::bad_alloc&) {
                threw = true;
            }
            failed = failing.failed();
        }
        if (threw) after_failure();
        if (!failed) return nth - 1;
    }
}

}  // namespace pinwarden::testing
