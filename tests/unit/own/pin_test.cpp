// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/own/pin.hpp>

#include <pinwarden/audit/registry.hpp>
#include <pinwarden/audit/scope.hpp>
#include <pinwarden/backend/scripted_backend.hpp>
#include <pinwarden/core/bytes.hpp>
#include <pinwarden/own/pinned_buffer.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <support/audit_state.hpp>
#include <support/failing_new.hpp>
#include <support/manual_token.hpp>
#include <support/release_failure_log.hpp>

namespace pinwarden {

namespace {

using namespace std::chrono_literals;
using audit::PinState;
using Catch::Matchers::ContainsSubstring;
using testing::AuditState;
using testing::ManualToken;
using Buffer = PinnedBuffer<int>;
using Clock = std::chrono::steady_clock;

const audit::Registry& registry() { return audit::Registry::instance(); }

std::shared_ptr<ScriptedBackend> script() { return std::make_shared<ScriptedBackend>(); }

}  // namespace

TEST_CASE("Memory whose copy is running outlives its handle, and is counted in flight", "[own]") {
    const auto backend = script();
    const audit::Counts before = registry().counts();
    const auto use = ManualToken::make(1, "copy stream");
    Buffer buffer(1000, {.backend = backend, .label = "hp_params"});
    int* const memory = buffer.data();
    buffer.record_use(use);
    CHECK(registry().counts().in_flight == before.in_flight);
    buffer.reset();
    CHECK(buffer.empty());
    const audit::Counts during = registry().counts();
    CHECK(during.live == before.live);
    CHECK(during.in_flight.pins == before.in_flight.pins + 1);
    CHECK(during.in_flight.bytes == before.in_flight.bytes + 4000);
    CHECK(during.in_flight.locked_bytes == before.in_flight.locked_bytes + page_bytes());
    CHECK(during.locked_bytes() == before.locked_bytes() + page_bytes());
    CHECK(backend->outstanding().size() == 1);
    memory[999] = 1;  // the copy may still write

    const auto record = registry().find(memory).value();
    CHECK(record.state == PinState::in_flight);
    CHECK(record.label == "hp_params");
    CHECK_THAT(record.detail, ContainsSubstring("copy stream"));

    use->complete();
    CHECK(backend->outstanding().size() == 1);  // nobody has looked yet
    registry().collect();
    CHECK(backend->outstanding().empty());
    CHECK(registry().counts() == before);
    CHECK_FALSE(registry().find(memory));
}

TEST_CASE("Every way to lose a handle leaves a running copy its memory", "[own]") {
    const auto backend = script();
    const AuditState before = AuditState::now();
    const auto use = ManualToken::make(2);
    const auto used = [&] {
        Buffer buffer(10, {.backend = backend});
        buffer.record_use(use);
        return buffer;
    };
    { const Buffer destroyed = used(); }
    Buffer reset = used();
    reset.reset();
    Buffer assigned = used();
    assigned = Buffer();
    Buffer moved = used();
    { const Buffer owner(std::move(moved)); }
    CHECK(backend->outstanding().size() == 4);
    CHECK(registry().counts().in_flight.pins == before.counts.in_flight.pins + 4);
    use->complete();
    CHECK(AuditState::now() == before);
    CHECK(backend->outstanding().empty());
}

TEST_CASE("Memory whose copies are complete is released with its handle", "[own]") {
    const auto backend = script();
    const auto use = ManualToken::make(3);
    Buffer buffer(10, {.backend = backend});
    buffer.record_use(use);
    use->complete();
    buffer.reset();
    CHECK(backend->outstanding().empty());
}

TEST_CASE("Whoever pins next releases what has completed", "[own]") {
    const auto backend = script();
    const auto use = ManualToken::make(4);
    Buffer buffer(10, {.backend = backend});
    const int* const memory = buffer.data();
    buffer.record_use(use);
    buffer.reset();
    use->complete();
    const Buffer next(10, {.backend = script()});
    CHECK(backend->outstanding().empty());
    CHECK(registry().counts().in_flight.pins == 0);
    CHECK((next.data() == memory || !registry().find(memory)));
}

TEST_CASE("Whoever unpins next releases what has completed", "[own]") {
    const auto backend = script();
    const auto use = ManualToken::make(5);
    Buffer other(10, {.backend = script()});
    Buffer buffer(10, {.backend = backend});
    buffer.record_use(use);
    buffer.reset();
    use->complete();
    other.reset();
    CHECK(backend->outstanding().empty());
}

TEST_CASE("All streams that used the memory must be done with it", "[own]") {
    const auto backend = script();
    const auto first = ManualToken::make(10, "first");
    const auto second = ManualToken::make(11, "second");
    Buffer buffer(10, {.backend = backend});
    const int* const memory = buffer.data();
    buffer.record_use(first);
    buffer.record_use(second);
    buffer.reset();
    CHECK_THAT(registry().find(memory).value().detail,
               ContainsSubstring("first") && ContainsSubstring("second"));
    second->complete();
    registry().collect();
    CHECK(backend->outstanding().size() == 1);
    first->complete();
    registry().collect();
    CHECK(backend->outstanding().empty());
}

TEST_CASE("Of several uses on one stream the last one counts", "[own]") {
    const auto backend = script();
    const auto early = ManualToken::make(20);
    const auto late = ManualToken::make(20);
    const std::weak_ptr<ManualToken> watch = early;
    {
        Buffer buffer(10, {.backend = backend});
        buffer.record_use(early);
        buffer.record_use(late);
        early->complete();
    }
    registry().collect();
    CHECK(backend->outstanding().size() == 1);
    late->complete();
    registry().collect();
    CHECK(backend->outstanding().empty());
    CHECK(early.use_count() == 1);  // replaced, so nobody keeps it
}

TEST_CASE("Uses that are over are not kept", "[own]") {
    Buffer buffer(10, {.backend = script()});
    std::vector<std::shared_ptr<ManualToken>> uses;
    for (std::uint64_t queue = 30; queue < 60; ++queue) {
        uses.push_back(ManualToken::make(queue));
        buffer.record_use(uses.back());
        uses.back()->complete();
    }
    const auto held = std::ranges::count_if(uses, [](const auto& use) { return use.use_count() > 1; });
    CHECK(held <= 1);
}

TEST_CASE("Trap 10: a stuck stream delays its own blocks only", "[own]") {
    const auto backend = script();
    const auto stuck = ManualToken::make(70);
    const auto fine = ManualToken::make(71);
    Buffer blocked(10, {.backend = backend});
    blocked.record_use(stuck);
    const int* const kept = blocked.data();
    std::vector<Buffer> others;
    for (int i = 0; i < 20; ++i) {
        others.emplace_back(10, PinOptions{.backend = backend});
        others.back().record_use(fine);
    }
    blocked.reset();
    others.clear();
    CHECK(backend->outstanding().size() == 21);
    fine->complete();
    registry().collect();
    REQUIRE(backend->outstanding().size() == 1);
    CHECK(backend->outstanding()[0].address == reinterpret_cast<const std::byte*>(kept));
    stuck->complete();
    registry().collect();
    CHECK(backend->outstanding().empty());
}

TEST_CASE("Trap 10: pinning and unpinning do not wait for a stuck stream", "[own]") {
    const auto backend = script();
    const auto stuck = ManualToken::make(72);
    const auto start = Clock::now();
    for (int i = 0; i < 50; ++i) {
        Buffer buffer(10, {.backend = backend});
        buffer.record_use(stuck);
    }
    registry().collect();
    CHECK(Clock::now() - start < 10s);
    CHECK(backend->outstanding().size() == 50);
    stuck->complete();
    registry().collect();
    CHECK(backend->outstanding().empty());
}

TEST_CASE("Waiting returns when every use is complete, and forgets them", "[own]") {
    const auto backend = script();
    Buffer buffer(10, {.backend = backend});
    const auto first = ManualToken::make(80);
    const auto second = ManualToken::make(81);
    buffer.record_use(first);
    buffer.record_use(second);
    std::jthread finisher([&] {
        std::this_thread::sleep_for(10ms);
        first->complete();
        std::this_thread::sleep_for(10ms);
        second->complete();
    });
    buffer.wait();
    CHECK(first->is_complete());
    CHECK(second->is_complete());
    finisher.join();
    CHECK(first.use_count() == 1);
    CHECK(second.use_count() == 1);
    buffer.wait();
    buffer.reset();
    CHECK(backend->outstanding().empty());
}

TEST_CASE("Pageable memory is in flight like any other, though it is no pin", "[own]") {
    const audit::Counts before = registry().counts();
    const auto use = ManualToken::make(90);
    Buffer buffer(1000, {.pinning = Pinning::pageable, .label = "lp_grads"});
    buffer.record_use(use);
    buffer.reset();
    const audit::Counts during = registry().counts();
    CHECK(during.in_flight.pins == before.in_flight.pins + 1);
    CHECK(during.in_flight.locked_bytes == before.in_flight.locked_bytes);
    const auto records = registry().snapshot();
    const auto record = std::ranges::find(records, "lp_grads", &audit::PinRecord::label);
    REQUIRE(record != records.end());
    CHECK(record->state == PinState::in_flight);
    CHECK(record->backend == "pageable");
    use->complete();
    registry().collect();
    CHECK(registry().counts() == before);
}

TEST_CASE("A use that cannot be remembered for want of memory is waited for", "[own][failing_new]") {
    const auto backend = script();
    Buffer buffer(10, {.backend = backend});
    std::vector<std::shared_ptr<ManualToken>> remembered;
    bool threw = false;
    // Room for a few uses may be left from an earlier block; the first that finds none is the one to see.
    for (std::uint64_t queue = 100; queue < 164 && !threw; ++queue) {
        const auto use = ManualToken::make(queue);
        std::jthread finisher([&use] {
            std::this_thread::sleep_for(10ms);
            use->complete();
        });
        bool waited = false;
        {
            const testing::FailingNew failing(1);
            try {
                buffer.record_use(use);
            } catch (const std::bad_alloc&) {
                threw = true;
                waited = use->is_complete();
            }
        }
        if (threw) {
            CHECK(waited);
        } else {
            remembered.push_back(ManualToken::make(queue));  // stays incomplete, so that its room stays taken
            buffer.record_use(remembered.back());
        }
    }
    CHECK(threw);
    for (const auto& use : remembered) use->complete();
    buffer.reset();
    CHECK(backend->outstanding().empty());
}

TEST_CASE("Trap 5: a failed unpin after a copy is quarantined like any other", "[own]") {
    testing::ReleaseFailureLog log;
    const auto backend = script();
    const audit::Counts before = registry().counts();
    const auto use = ManualToken::make(92);
    Buffer buffer(10, {.backend = backend, .label = "late"});
    buffer.record_use(use);
    buffer.reset();
    backend->answer_release(UnpinStatus::failed);
    use->complete();
    CHECK(log.take().empty());
    registry().collect();
    const auto failures = log.take();
    REQUIRE(failures.size() == 1);
    CHECK_THAT(failures[0].text, ContainsSubstring("'late'"));
    CHECK(registry().counts().in_flight == before.in_flight);
    CHECK(registry().counts().quarantined.pins == before.quarantined.pins + 1);
    registry().collect();
    CHECK(log.take().empty());
}

TEST_CASE("A scope that closes releases what completes meanwhile, and its deadline holds", "[own]") {
    audit::Scope scope("engine");
    const auto backend = script();
    const auto use = ManualToken::make(93);
    const auto stuck = ManualToken::make(94, "stuck stream");
    {
        Buffer first(10, {.backend = backend, .scope = scope});
        first.record_use(use);
        Buffer second(10, {.backend = backend, .scope = scope});
        second.record_use(stuck);
    }
    std::jthread finisher([&] {
        std::this_thread::sleep_for(10ms);
        use->complete();
    });
    const auto start = Clock::now();
    const audit::LeakReport report = scope.close(200ms);
    CHECK(Clock::now() - start >= 200ms);
    REQUIRE(report.records.size() == 1);
    CHECK_THAT(report.records[0].detail, ContainsSubstring("stuck stream"));
    CHECK(backend->outstanding().size() == 1);
    stuck->complete();
    CHECK(scope.close(1min).is_clean());
    CHECK(backend->outstanding().empty());
}

}  // namespace pinwarden
