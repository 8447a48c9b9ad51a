// SPDX-License-Identifier: Apache-2.0
#include <support/manual_token.hpp>

#include <algorithm>
#include <utility>

namespace pinwarden::testing {

std::shared_ptr<ManualToken> ManualToken::make(std::uint64_t queue, std::string name) {
    return std::make_shared<ManualToken>(queue, std::move(name));
}

ManualToken::ManualToken(std::uint64_t queue, std::string name) : queue_(queue), name_(std::move(name)) {}

void ManualToken::complete() {
    {
        const std::scoped_lock lock(mutex_);
        complete_ = true;
    }
    changed_.notify_all();
}

bool ManualToken::is_complete() const noexcept {
    const std::scoped_lock lock(mutex_);
    return complete_;
}

bool ManualToken::wait_for(std::chrono::nanoseconds timeout) const noexcept {
    // A time-out that would overflow the clock is as good as an hour: the caller asks again.
    const auto longest = std::min<std::chrono::nanoseconds>(timeout, std::chrono::hours(1));
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, longest, [this] { return complete_; });
}

}  // namespace pinwarden::testing
