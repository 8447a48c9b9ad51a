// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Keeps what goes to the release-failure handler while it lives, instead of printing it.
///
/// ```
/// ReleaseFailureRecorder failures;
/// run_the_code_under_test();
/// REQUIRE(failures.texts().empty());
/// ```

#include <string>
#include <vector>

#include <pinwarden/core/release_failure.hpp>

namespace pinwarden::testing {

/// One at a time in a program. Failures may arrive from any thread.
class [[nodiscard]] ReleaseFailureRecorder {
public:
    ReleaseFailureRecorder();
    ReleaseFailureRecorder(const ReleaseFailureRecorder&) = delete;
    ReleaseFailureRecorder& operator=(const ReleaseFailureRecorder&) = delete;
    ~ReleaseFailureRecorder();

    /// The texts so far, in the order of their arrival.
    [[nodiscard]] std::vector<std::string> texts() const;

private:
    ReleaseFailureHandler replaced_;
};

}  // namespace pinwarden::testing
