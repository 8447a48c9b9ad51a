// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// A completion token that completes when the test says so: a stream that is stuck for as long as it takes.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include <pinwarden/core/completion.hpp>

namespace pinwarden::testing {

class ManualToken final : public CompletionToken {
public:
    /// A use on the queue with the number `queue`; the numbers of a test's own streams start far away from
    /// it.
    [[nodiscard]] static std::shared_ptr<ManualToken> make(std::uint64_t queue, std::string name = "manual");

    ManualToken(std::uint64_t queue, std::string name);

    /// The work is finished. Idempotent, callable from any thread.
    void complete();

    [[nodiscard]] bool is_complete() const noexcept override;
    [[nodiscard]] bool wait_for(std::chrono::nanoseconds timeout) const noexcept override;
    [[nodiscard]] std::uint64_t queue() const noexcept override { return queue_; }
    [[nodiscard]] std::string queue_name() const override { return name_; }

private:
    const std::uint64_t queue_;
    const std::string name_;
    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    bool complete_ = false;
};

}  // namespace pinwarden::testing
