// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/audit/leak_guard.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include <pinwarden/backend/scripted_backend.hpp>
#include <pinwarden/own/pinned_buffer.hpp>
#include <pinwarden/pool/pinned_pool.hpp>

#include <support/failing_new.hpp>
#include <support/manual_token.hpp>
#include <support/release_failure_log.hpp>

namespace pinwarden::audit {

namespace {

using Buffer = PinnedBuffer<int>;

Buffer make(const std::string& label) {
    static const auto backend = std::make_shared<ScriptedBackend>();
    return Buffer(10, {.backend = backend, .label = label});
}

LeakReport close(LeakGuard& guard) { return guard.close(std::chrono::nanoseconds(0)); }

}  // namespace

TEST_CASE("A guard answers for pins made after it, from any thread, and not for those before", "[audit]") {
    const Buffer before = make("before");
    LeakGuard guard;
    CHECK(close(guard).records.empty());
    const Buffer after = make("after");
    std::optional<Buffer> from_a_thread;
    std::thread([&] { from_a_thread.emplace(make("thread")); }).join();
    const LeakReport report = close(guard);
    CHECK_FALSE(report.is_clean());
    CHECK(report.counts.live.pins == 2);
    REQUIRE(report.records.size() == 2);
    for (const PinRecord& record : report.records) CHECK(record.label != "before");
    from_a_thread.reset();
    CHECK(close(guard).records.size() == 1);
}

TEST_CASE("A guard tells a pin from one that had its address and its slot before", "[audit]") {
    std::vector<Buffer> buffers;
    for (int count = 0; count < 100; ++count) buffers.push_back(make("old"));
    LeakGuard guard;
    buffers.clear();
    for (int count = 0; count < 50; ++count) buffers.push_back(make("new"));
    const LeakReport report = close(guard);
    CHECK(report.counts.live.pins == 50);
    for (const PinRecord& record : report.records) CHECK(record.label == "new");
}

TEST_CASE("A block that a pool gives out again is a new pin, and one that it keeps is none", "[audit]") {
    const auto pool = std::make_shared<PinnedPool>(std::make_shared<ScriptedBackend>(), std::size_t{1} << 20);
    const auto pooled = [&] { return Buffer(10, {.backend = pool, .label = "pooled"}); };
    { const Buffer first = pooled(); }
    LeakGuard guard;
    CHECK(close(guard).records.empty());
    const int* address = nullptr;
    {
        const Buffer reused = pooled();
        address = reused.data();
        CHECK(pool->statistics().reused == 1);
        REQUIRE(close(guard).records.size() == 1);
        CHECK(close(guard).records[0].address == address);
    }
    CHECK(close(guard).is_clean());
    CHECK(close(guard).counts.cached.pins == 1);
}

TEST_CASE("A guard that begins anew forgets what is pinned", "[audit]") {
    LeakGuard guard;
    const Buffer first = make("first");
    guard.restart();
    CHECK(close(guard).is_clean());
    const Buffer second = make("second");
    REQUIRE(close(guard).records.size() == 1);
    CHECK(close(guard).records[0].label == "second");
}

TEST_CASE("A guard waits for what is in flight, and not longer than it is told", "[audit]") {
    const auto token = testing::ManualToken::make(1);
    LeakGuard guard;
    {
        const Buffer buffer = make("flying");
        buffer.record_use(token);
    }
    const LeakReport stuck = guard.close(std::chrono::milliseconds(5));
    CHECK(stuck.counts.in_flight.pins == 1);
    CHECK_FALSE(stuck.is_clean());
    std::jthread ender([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        token->complete();
    });
    CHECK(guard.close(std::chrono::seconds(30)).is_clean());
}

TEST_CASE("A guard that was never asked reports the pins that outlive it", "[audit]") {
    testing::ReleaseFailureLog log;
    std::optional<Buffer> kept;
    {
        LeakGuard guard;
        kept.emplace(make("kept"));
    }
    const auto failures = log.take();
    REQUIRE(failures.size() == 1);
    CHECK(failures[0].text.find("live 'kept'") != std::string::npos);
    CHECK(failures[0].bytes == kept->locked_bytes());
    {
        LeakGuard asked;
        kept.emplace(make("kept again"));
        static_cast<void>(close(asked));
        LeakGuard clean;
    }
    CHECK(log.take().empty());
}

TEST_CASE("Beginning a guard takes no memory", "[audit]") {
    const std::size_t allocations = testing::allocations_of_this_thread();
    LeakGuard guard;
    guard.restart();
    CHECK(testing::allocations_of_this_thread() == allocations);
}

}  // namespace pinwarden::audit
