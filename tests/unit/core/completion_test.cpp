// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/core/completion.hpp>

#include <atomic>
#include <thread>

#include <catch2/catch_test_macros.hpp>

namespace pinwarden {

namespace {

// Answers "not yet" a few times before its time, as a wait that was interrupted does.
class ImpatientToken final : public CompletionToken {
public:
    explicit ImpatientToken(int times) : left_(times) {}
    [[nodiscard]] bool is_complete() const noexcept override { return left_.load() == 0; }
    [[nodiscard]] bool wait_for(std::chrono::nanoseconds) const noexcept override {
        if (left_.load() > 0) left_.fetch_sub(1);
        return is_complete();
    }
    [[nodiscard]] std::uint64_t queue() const noexcept override { return 1; }
    [[nodiscard]] std::string queue_name() const override { return "impatient"; }

private:
    mutable std::atomic<int> left_;
};

}  // namespace

TEST_CASE("Waiting for a token goes on until it is complete, however often its time-out passes", "[core]") {
    const ImpatientToken token(5);
    wait_until_complete(token);
    CHECK(token.is_complete());
}

TEST_CASE("Waiting for a token that is complete returns at once", "[core]") {
    const ImpatientToken token(0);
    wait_until_complete(token);
    CHECK(token.is_complete());
}

}  // namespace pinwarden
