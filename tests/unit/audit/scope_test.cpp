// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/audit/scope.hpp>

#include <pinwarden/backend/scripted_backend.hpp>
#include <pinwarden/core/bytes.hpp>
#include <pinwarden/own/pinned_buffer.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <semaphore>
#include <string>
#include <thread>
#include <utility>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <support/audit_state.hpp>
#include <support/manual_token.hpp>
#include <support/release_failure_log.hpp>

namespace pinwarden::audit {

namespace {

using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;
using testing::ManualToken;
using testing::ReleaseFailureLog;
using Buffer = PinnedBuffer<int>;
using Clock = std::chrono::steady_clock;

PinOptions in(const Scope& scope, std::string_view label = "test") {
    return {.backend = std::make_shared<ScriptedBackend>(), .scope = scope, .label = label};
}

}  // namespace

TEST_CASE("A scope has the name it was given, and no scope has none", "[audit]") {
    const Scope scope("zero2");
    CHECK(scope.name() == "zero2");
    CHECK(scope.ref().name() == "zero2");
    CHECK(ScopeRef().name().empty());
    CHECK(ScopeRef() == ScopeRef());
    CHECK_FALSE(scope.ref() == ScopeRef());
}

TEST_CASE("A scope reports its own pins only, whatever its name", "[audit]") {
    const Scope scope("same name");
    const Scope other("same name");
    CHECK_FALSE(scope.ref() == other.ref());
    const Buffer mine(10, in(scope, "mine"));
    const Buffer theirs(20, in(other));
    const Buffer nobodys(30, {.backend = std::make_shared<ScriptedBackend>()});
    const LeakReport report = scope.report();
    CHECK(report.scope == "same name");
    REQUIRE(report.records.size() == 1);
    CHECK(report.records[0].label == "mine");
    CHECK(report.counts.live == Tally{1, 10 * sizeof(int), page_bytes()});
    CHECK_FALSE(report.is_clean());
}

// Its release takes until the test lets it end.
class SlowBackend final : public PinBackend {
public:
    [[nodiscard]] std::string_view name() const noexcept override { return "slow"; }
    [[nodiscard]] bool pins() const noexcept override { return true; }
    [[nodiscard]] HostBlock allocate(std::size_t bytes) override { return memory_->allocate(bytes); }
    [[nodiscard]] UnpinAnswer deallocate(const HostBlock& block) noexcept override {
        has_begun.release();
        may_end.acquire();
        return memory_->deallocate(block);
    }
    [[nodiscard]] HostBlock register_memory(std::byte* address, std::size_t bytes) override {
        return memory_->register_memory(address, bytes);
    }
    [[nodiscard]] UnpinAnswer unregister_memory(const HostBlock& block) noexcept override {
        return memory_->unregister_memory(block);
    }

    std::binary_semaphore has_begun{0};
    std::binary_semaphore may_end{0};

private:
    const PinBackendPtr memory_ = std::make_shared<ScriptedBackend>();
};

TEST_CASE("A release that takes long holds back no other scope's blocks", "[audit]") {
    const auto slow = std::make_shared<SlowBackend>();
    const auto first_use = ManualToken::make(900);
    const auto second_use = ManualToken::make(901);
    Scope scope("other");
    Buffer held(10, {.backend = slow});
    Buffer mine(10, in(scope));
    held.record_use(first_use);
    mine.record_use(second_use);
    held.reset();
    mine.reset();
    first_use->complete();
    second_use->complete();
    std::jthread sweeper([] { Registry::instance().collect(); });
    slow->has_begun.acquire();
    CHECK(scope.close(0s).is_clean());
    slow->may_end.release();
}

TEST_CASE("What a pin and its unpin ask does not grow with the blocks that are stuck", "[audit]") {
    class CountingToken final : public CompletionToken {
    public:
        CountingToken(std::atomic<std::size_t>& asked, const std::atomic<bool>& complete)
            : asked_(asked), complete_(complete) {}
        [[nodiscard]] bool is_complete() const noexcept override {
            ++asked_;
            return complete_;
        }
        [[nodiscard]] bool wait_for(std::chrono::nanoseconds) const noexcept override { return is_complete(); }
        [[nodiscard]] std::uint64_t queue() const noexcept override { return 902; }
        [[nodiscard]] std::string queue_name() const override { return "counting"; }

    private:
        std::atomic<std::size_t>& asked_;
        const std::atomic<bool>& complete_;
    };
    std::atomic<std::size_t> asked{0};
    std::atomic<bool> complete{false};
    const auto use = std::make_shared<CountingToken>(asked, complete);
    const auto backend = std::make_shared<ScriptedBackend>();
    for (int i = 0; i < 1000; ++i) {
        Buffer stuck(10, {.backend = backend});
        stuck.record_use(use);
    }
    asked = 0;
    { const Buffer buffer(10, {.backend = backend}); }
    CHECK(asked > 0);
    CHECK(asked <= 64);
    complete = true;
    Registry::instance().collect();
    CHECK(backend->outstanding().empty());
}

TEST_CASE("A scope without pins closes clean and at once", "[audit]") {
    Scope scope("empty");
    const auto start = Clock::now();
    CHECK(scope.close(1h).is_clean());
    CHECK(Clock::now() - start < 10s);
    CHECK(scope.close(0ns).is_clean());
    CHECK(scope.close(-1ns).is_clean());
}

TEST_CASE("A pin that is live when its scope closes is reported, and not waited for", "[audit]") {
    Scope scope("engine");
    Buffer buffer(10, in(scope));
    const auto start = Clock::now();
    const LeakReport report = scope.close(1h);
    CHECK(Clock::now() - start < 10s);
    CHECK_FALSE(report.is_clean());
    CHECK(report.counts.live.pins == 1);
    buffer.reset();
    CHECK(scope.close(0ns).is_clean());
}

TEST_CASE("Closing waits for what is in flight, and releases it", "[audit]") {
    Scope scope("engine");
    const testing::AuditState before = testing::AuditState::now();
    const auto use = ManualToken::make(9001);
    Buffer buffer(10, in(scope));
    buffer.record_use(use);
    buffer.reset();
    CHECK(scope.report().counts.in_flight.pins == 1);
    CHECK_FALSE(scope.report().is_clean());
    std::jthread finisher([&use] {
        std::this_thread::sleep_for(20ms);
        use->complete();
    });
    CHECK(scope.close(1min).is_clean());
    CHECK(use->is_complete());
    CHECK(testing::AuditState::now() == before);
}

TEST_CASE("Closing gives up at its deadline and names the stuck stream", "[audit]") {
    Scope scope("engine");
    const auto stuck = ManualToken::make(9002, "grad copies");
    Buffer buffer(10, in(scope, "lp_grads"));
    buffer.record_use(stuck);
    buffer.reset();
    const auto start = Clock::now();
    const LeakReport report = scope.close(30ms);
    CHECK(Clock::now() - start >= 30ms);
    CHECK(Clock::now() - start < 10s);
    CHECK_FALSE(report.is_clean());
    REQUIRE(report.records.size() == 1);
    CHECK(report.records[0].state == PinState::in_flight);
    CHECK(report.records[0].label == "lp_grads");
    CHECK_THAT(report.records[0].detail, ContainsSubstring("grad copies"));
    stuck->complete();
    CHECK(scope.close(1min).is_clean());
}

TEST_CASE("Closing says how much waits for which stream, and passes over streams that are done", "[audit]") {
    Scope scope("engine");
    const auto stuck = ManualToken::make(9011, "grad copies");
    const auto done = ManualToken::make(9012, "param copies");
    for (const std::size_t size : {std::size_t{10}, std::size_t{30}}) {
        Buffer buffer(size, in(scope, "lp_grads"));
        buffer.record_use(stuck);
        buffer.record_use(done);
    }
    done->complete();
    const LeakReport report = scope.close(10ms);
    const std::size_t bytes = 40 * sizeof(Buffer().span()[0]);
    CHECK(report.in_flight_by_stream() == std::vector<StreamTally>{{9011, "grad copies", 2, bytes}});
    CHECK_THAT(report.records.at(0).detail, !ContainsSubstring("param copies"));
    CHECK_THAT(to_text(report), ContainsSubstring("waiting for stream 'grad copies': 2 pins"));
    stuck->complete();
    CHECK(scope.close(1min).in_flight_by_stream().empty());
}

TEST_CASE("A stuck stream delays its own blocks only", "[audit]") {
    Scope scope("engine");
    const auto stuck = ManualToken::make(9003);
    const auto fine = ManualToken::make(9004);
    std::optional<Buffer> blocked(std::in_place, 10, in(scope, "blocked"));
    blocked->record_use(stuck);
    std::optional<Buffer> both(std::in_place, 10, in(scope, "both"));
    both->record_use(fine);
    both->record_use(stuck);
    std::optional<Buffer> free(std::in_place, 10, in(scope, "free"));
    free->record_use(fine);
    blocked.reset();
    both.reset();
    free.reset();
    CHECK(scope.report().counts.in_flight.pins == 3);
    fine->complete();
    const LeakReport report = scope.close(20ms);
    CHECK(report.counts.in_flight.pins == 2);
    for (const PinRecord& record : report.records) CHECK(record.label != "free");
    stuck->complete();
    CHECK(scope.close(1min).is_clean());
}

TEST_CASE("Closing one scope does not wait for another's copies", "[audit]") {
    Scope scope("engine");
    Scope other("other engine");
    const auto stuck = ManualToken::make(9005);
    Buffer theirs(10, in(other));
    theirs.record_use(stuck);
    theirs.reset();
    const auto start = Clock::now();
    CHECK(scope.close(1h).is_clean());
    CHECK(Clock::now() - start < 10s);
    stuck->complete();
    CHECK(other.close(1min).is_clean());
}

TEST_CASE("A scope that ends with live pins says so through the failure handler", "[audit]") {
    ReleaseFailureLog log;
    std::optional<Scope> scope("forgetful engine");
    const Buffer first(10, in(*scope, "exp_avg"));
    const Buffer second(20, in(*scope, "exp_avg_sq"));
    scope.reset();
    const auto failures = log.take();
    REQUIRE(failures.size() == 1);
    CHECK_THAT(failures[0].text, ContainsSubstring("scope 'forgetful engine': 2 live") &&
                                     ContainsSubstring("'exp_avg'") && ContainsSubstring("'exp_avg_sq'") &&
                                     ContainsSubstring("scope_test.cpp"));
    CHECK(failures[0].bytes == 2 * page_bytes());
    CHECK(failures[0].address == nullptr);
    CHECK(failures[0].code == 0);
}

TEST_CASE("A scope that was closed, is clean or was moved from ends in silence", "[audit]") {
    ReleaseFailureLog log;
    { const Scope clean("clean"); }
    std::optional<Scope> closed("closed");
    const Buffer left(10, in(*closed));
    static_cast<void>(closed->close(0ns));
    closed.reset();
    CHECK(log.take().empty());

    std::optional<Scope> moved("moved");
    const Buffer kept(10, in(*moved));
    std::optional<Scope> owner(std::move(*moved));
    moved.reset();
    CHECK(log.take().empty());
    CHECK(owner->name() == "moved");
    owner.reset();
    CHECK(log.take().size() == 1);
}

TEST_CASE("A pin keeps the name of a scope that is gone", "[audit]") {
    ReleaseFailureLog log;
    std::optional<Scope> scope("short-lived");
    const Buffer buffer(10, in(*scope));
    scope.reset();
    CHECK(log.take().size() == 1);
    const auto records = LeakReport::of_process().records;
    REQUIRE_FALSE(records.empty());
    bool named = false;
    for (const PinRecord& record : records) named = named || record.scope == "short-lived";
    CHECK(named);
}

TEST_CASE("Pins may be made in a scope after it was closed", "[audit]") {
    Scope scope("again");
    CHECK(scope.close(0ns).is_clean());
    const Buffer buffer(10, in(scope));
    CHECK(scope.close(0ns).counts.live.pins == 1);
}

}  // namespace pinwarden::audit
