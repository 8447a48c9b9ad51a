// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// How far a stream's worker has come: what events look at, apart from the queue, so that it outlives the
/// stream.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>

namespace pinwarden::detail {

/// The number of the last finished item of one queue. Items finish in the order of their numbers.
/// Thread-safe.
class StreamProgress {
public:
    explicit StreamProgress(std::string name);

    [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
    [[nodiscard]] const std::string& name() const noexcept { return name_; }

    /// Whether item `number` is finished. What it wrote is visible to the caller then.
    [[nodiscard]] bool reached(std::uint64_t number) const noexcept {
        return finished_.load(std::memory_order_acquire) >= number;
    }

    /// Blocks until item `number` is finished.
    void wait(std::uint64_t number) const noexcept;

    /// Blocks until item `number` is finished or `timeout` has passed, and answers reached().
    [[nodiscard]] bool wait_for(std::uint64_t number, std::chrono::nanoseconds timeout) const noexcept;

    /// Says that item `number` is finished, and wakes those who wait for it.
    void finish(std::uint64_t number) noexcept;

private:
    const std::uint64_t id_;
    const std::string name_;
    std::atomic<std::uint64_t> finished_{0};
    mutable std::mutex mutex_;
    mutable std::condition_variable advanced_;
};

}  // namespace pinwarden::detail
