// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/core/completion.hpp>

#include <cstdint>
#include <thread>

#include "core/immortal.hpp"

namespace pinwarden {

CompletionToken::~CompletionToken() = default;

namespace {

class LostWork final : public CompletionToken {
public:
    [[nodiscard]] bool is_complete() const noexcept override { return false; }
    [[nodiscard]] bool wait_for(std::chrono::nanoseconds timeout) const noexcept override {
        std::this_thread::sleep_for(timeout);
        return false;
    }
    [[nodiscard]] std::uint64_t queue() const noexcept override { return UINT64_MAX; }
    [[nodiscard]] std::string queue_name() const override { return "unknown: its work could not be recorded"; }
};

}  // namespace

CompletionTokenPtr lost_work() noexcept {
    static detail::Immortal<LostWork> instance;
    return CompletionTokenPtr(CompletionTokenPtr(), &instance.get());  // shares nothing, so it needs no memory
}

void wait_until_complete(const CompletionToken& token) noexcept {
    while (!token.wait_for(std::chrono::hours(1))) {
    }
}

}  // namespace pinwarden
