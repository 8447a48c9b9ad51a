// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// A gate that threads wait at until the test opens it, and that tells how many have come to it.

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace pinwarden::testing {

/// Thread-safe. Nobody waits at it for more than a minute, so that a test that fails does not hang.
class Gate {
public:
    /// Waits until the gate is open.
    void pass() {
        std::unique_lock lock(mutex_);
        ++arrived_;
        changed_.notify_all();
        changed_.wait_for(lock, std::chrono::minutes(1), [&] { return open_; });
        ++passed_;
        changed_.notify_all();
    }

    void open() {
        const std::lock_guard lock(mutex_);
        open_ = true;
        changed_.notify_all();
    }

    /// Waits until `count` threads have come to the gate, and answers whether they have.
    bool wait_for_arrivals(std::size_t count) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, std::chrono::minutes(1), [&] { return arrived_ >= count; });
    }

    /// The same for those who have left it behind.
    bool wait_for_passes(std::size_t count) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, std::chrono::minutes(1), [&] { return passed_ >= count; });
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::size_t arrived_ = 0;
    std::size_t passed_ = 0;
    bool open_ = false;
};

}  // namespace pinwarden::testing
