// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// How far the reduction of a micro-batch is, told by the thread that works to the one that waits.

#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace pinwarden::zero {

/// Thread-safe.
class ReductionProgress {
public:
    /// All elements below the global position `end` are complete.
    void complete_to(std::size_t end) {
        const std::scoped_lock lock(mutex_);
        end_ = end;
        changed_.notify_all();
    }

    /// Nothing more will be complete.
    void finish() noexcept {
        const std::scoped_lock lock(mutex_);
        finished_ = true;
        changed_.notify_all();
    }

    /// Waits until all elements below `end` are complete; false if they will not be.
    [[nodiscard]] bool wait_for(std::size_t end) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return end_ >= end || finished_; });
        return end_ >= end;
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::size_t end_ = 0;
    bool finished_ = false;
};

}  // namespace pinwarden::zero
