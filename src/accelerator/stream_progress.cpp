// SPDX-License-Identifier: Apache-2.0
#include <accelerator/stream_progress.hpp>

#include <utility>

#include <accelerator/stream_id.hpp>

namespace pinwarden::detail {

StreamProgress::StreamProgress(std::string name) : id_(next_stream_id()), name_(std::move(name)) {}

void StreamProgress::wait(std::uint64_t number) const noexcept {
    if (reached(number)) return;
    std::unique_lock lock(mutex_);
    advanced_.wait(lock, [&] { return reached(number); });
}

bool StreamProgress::wait_for(std::uint64_t number, std::chrono::nanoseconds timeout) const noexcept {
    using Clock = std::chrono::steady_clock;
    if (reached(number) || timeout <= std::chrono::nanoseconds::zero()) return reached(number);
    const auto now = Clock::now();
    if (timeout > Clock::time_point::max() - now) {  // the sum below would overflow: for ever, in effect
        wait(number);
        return true;
    }
    std::unique_lock lock(mutex_);
    return advanced_.wait_until(lock, now + timeout, [&] { return reached(number); });
}

void StreamProgress::finish(std::uint64_t number) noexcept {
    {
        // Under the lock, or a waiter that has just looked and not yet gone to sleep would miss the
        // notification.
        const std::lock_guard lock(mutex_);
        finished_.store(number, std::memory_order_release);
    }
    advanced_.notify_all();
}

}  // namespace pinwarden::detail
