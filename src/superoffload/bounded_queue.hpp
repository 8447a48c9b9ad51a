// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// A queue of limited length between those who produce work and the workers: who has more to hand over waits,
/// so that speculation never runs further ahead than its memory allows.

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace pinwarden::zero {

/// What became of a push.
enum class Push : std::uint8_t {
    done,
    full,    ///< there was no room within the time given
    closed,  ///< nobody takes anything any more
};

/// First in, first out. Thread-safe.
template <typename T>
class BoundedQueue {
public:
    /// @pre `capacity` is at least 1
    explicit BoundedQueue(std::size_t capacity) : capacity_(capacity) {}

    /// Appends `value`, after waiting for room for at most `patience`. Unless it is done, `value` is
    /// unchanged.
    [[nodiscard]] Push push(T& value, std::chrono::nanoseconds patience) {
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, patience, [&] { return values_.size() < capacity_ || closed_; });
        if (closed_) return Push::closed;
        if (values_.size() >= capacity_) return Push::full;
        values_.push_back(std::move(value));
        lock.unlock();
        changed_.notify_all();
        return Push::done;
    }

    /// Takes the first value, after waiting for one; nothing once the queue is closed and empty.
    [[nodiscard]] std::optional<T> pop() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return !values_.empty() || closed_; });
        if (values_.empty()) return std::nullopt;
        std::optional<T> first(std::move(values_.front()));
        values_.pop_front();
        lock.unlock();
        changed_.notify_all();
        return first;
    }

    /// Drops what nobody has taken yet.
    void clear() noexcept {
        {
            const std::lock_guard lock(mutex_);
            values_.clear();
        }
        changed_.notify_all();
    }

    /// Refuses every push from now on, and lets pop() run dry. Idempotent.
    void close() noexcept {
        {
            const std::lock_guard lock(mutex_);
            closed_ = true;
        }
        changed_.notify_all();
    }

    [[nodiscard]] std::size_t size() const noexcept {
        const std::lock_guard lock(mutex_);
        return values_.size();
    }
    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

private:
    const std::size_t capacity_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<T> values_;
    bool closed_ = false;
};

}  // namespace pinwarden::zero
