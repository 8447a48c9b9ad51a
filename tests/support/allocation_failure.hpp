// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Lets one allocation from the heap fail, to show what code does when memory is short.
///
/// A program that uses it has its own `operator new` and `operator delete`, which behave as the usual ones
/// outside.
///
/// ```
/// for (std::size_t nth = 1;; ++nth) {
///     AllocationFailure failure(nth);
///     try { run_the_code_under_test(); } catch (const std::bad_alloc&) {}
///     if (!failure.has_failed()) break;              // every allocation of it has failed once
/// }
/// ```

#include <cstddef>

namespace pinwarden::testing {

/// While it lives, the `nth` allocation of the thread that made it, counted from one, throws std::bad_alloc.
class [[nodiscard]] AllocationFailure {
public:
    explicit AllocationFailure(std::size_t nth) noexcept;
    AllocationFailure(const AllocationFailure&) = delete;
    AllocationFailure& operator=(const AllocationFailure&) = delete;
    ~AllocationFailure();

    /// Whether there was such an allocation so far.
    [[nodiscard]] bool has_failed() const noexcept;
};

}  // namespace pinwarden::testing
