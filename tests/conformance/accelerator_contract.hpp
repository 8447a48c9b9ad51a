// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// What the contract's tests need to know of an implementation of Accelerator.
///
/// An implementation adds itself by a file with one line at namespace scope:
/// ```
/// const AcceleratorCaseEntry entry({"cpu", make_it, hold_it});
/// ```

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <pinwarden/accelerator/accelerator.hpp>
#include <pinwarden/own/pin_options.hpp>

namespace pinwarden::testing {

/// One implementation under test.
struct AcceleratorCase {
    std::string name;

    /// A device of its own with nothing allocated.
    std::function<AcceleratorPtr()> make;

    /// Makes a stream stand still behind what is queued on it, and answers the function that lets it go on.
    std::function<std::function<void()>(Stream&)> hold;

    /// How to have host memory that is copied while a stream stands still: a device may wait for pageable memory.
    std::function<PinOptions()> host = [] { return PinOptions{.pinning = Pinning::pageable}; };
};

/// All implementations linked into the program.
[[nodiscard]] std::vector<AcceleratorCase>& accelerator_cases();

/// Adds one before main() begins.
struct AcceleratorCaseEntry {
    explicit AcceleratorCaseEntry(AcceleratorCase added) { accelerator_cases().push_back(std::move(added)); }
};

}  // namespace pinwarden::testing
