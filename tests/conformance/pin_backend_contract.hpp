// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// What the contract's tests need to know of an implementation of PinBackend.
///
/// An implementation adds itself by a file with one line at namespace scope:
/// ```
/// const PinBackendCaseEntry entry({"native", [] { return native_backend(); }, true});
/// ```

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <pinwarden/backend/pin_backend.hpp>

namespace pinwarden::testing {

/// One implementation under test.
struct PinBackendCase {
    std::string name;
    std::function<PinBackendPtr()> make;

    /// Whether the kernel counts its blocks as locked: `VmLck` is then the witness.
    bool kernel_counts = false;
};

/// All implementations linked into the program.
[[nodiscard]] std::vector<PinBackendCase>& pin_backend_cases();

/// Adds one before main() begins.
struct PinBackendCaseEntry {
    explicit PinBackendCaseEntry(PinBackendCase added) { pin_backend_cases().push_back(std::move(added)); }
};

}  // namespace pinwarden::testing
