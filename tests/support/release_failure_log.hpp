// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Collects what is reported through the release-failure handler: up to 64 reports, 4 KiB of each text.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <pinwarden/core/release_failure.hpp>

namespace pinwarden::testing {

/// While it lives, failed releases are collected here instead of being reported as before. One at a time.
class [[nodiscard]] ReleaseFailureLog {
public:
    /// A ReleaseFailure that outlives the call of its handler.
    struct Failure {
        std::string text;
        const void* address;
        std::size_t bytes;
        int code;
        std::uint_least32_t line;
    };

    ReleaseFailureLog();
    ReleaseFailureLog(const ReleaseFailureLog&) = delete;
    ReleaseFailureLog& operator=(const ReleaseFailureLog&) = delete;
    ~ReleaseFailureLog();

    /// What was reported so far, and empties the log.
    [[nodiscard]] std::vector<Failure> take();

    /// The texts of what was reported since, which stays in the log.
    [[nodiscard]] std::vector<std::string> texts() const;

private:
    ReleaseFailureHandler previous_;
};

}  // namespace pinwarden::testing
