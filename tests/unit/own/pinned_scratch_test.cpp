// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/own/pinned_scratch.hpp>

#include <pinwarden/audit/registry.hpp>
#include <pinwarden/backend/scripted_backend.hpp>

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <support/audit_state.hpp>
#include <support/manual_token.hpp>

namespace pinwarden {

namespace {

using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using testing::AuditState;
using testing::ManualToken;

}  // namespace

TEST_CASE("A scratch is acquired again and again in the same memory", "[own]") {
    const auto backend = std::make_shared<ScriptedBackend>();
    PinnedScratch<float> scratch(1000, {.backend = backend, .label = "lp_grads"});
    CHECK(scratch.capacity() == 1000);
    CHECK(scratch.capacity_bytes() == 4000);
    const auto whole = scratch.acquire(1000);
    CHECK(whole.size() == 1000);
    std::ranges::fill(whole, 1.0F);
    const auto part = scratch.acquire(10);
    CHECK(part.size() == 10);
    CHECK(part.data() == whole.data());
    CHECK(scratch.acquire(0).empty());
    CHECK(scratch.acquire(1000).data() == whole.data());
    // One allocation, and nothing else, was ever asked of the backend.
    CHECK(backend->calls().size() == 1);
    CHECK(backend->calls()[0].block.bytes == 4000);
}

TEST_CASE("A scratch that is asked for more than it holds says how much it holds, and stays usable",
          "[own]") {
    const auto backend = std::make_shared<ScriptedBackend>();
    PinnedScratch<double> scratch(100, {.backend = backend});
    const double* const before = scratch.acquire(100).data();
    scratch.acquire(1)[0] = 42.0;
    CHECK_THROWS_MATCHES(scratch.acquire(101), CapacityError,
                         MessageMatches(ContainsSubstring("scratch of 100 elements of 8 bytes each") &&
                                        ContainsSubstring("asked for 101")));
    CHECK_THROWS_AS(scratch.acquire(std::numeric_limits<std::size_t>::max()), CapacityError);
    CHECK(scratch.capacity() == 100);
    CHECK(scratch.acquire(100).data() == before);
    CHECK(*before == 42.0);
    CHECK(backend->calls().size() == 1);
}

TEST_CASE("A capacity error is a size error, and an error of the library", "[own]") {
    PinnedScratch<int> empty;
    CHECK_THROWS_AS(empty.acquire(1), SizeError);
    CHECK(empty.acquire(0).empty());
}

TEST_CASE("A capacity that overflows is an error before anything is asked of a backend", "[own]") {
    const auto backend = std::make_shared<ScriptedBackend>();
    const std::size_t capacity = std::numeric_limits<std::size_t>::max() / 4 + 1;
    CHECK_THROWS_AS(PinnedScratch<int>(capacity, PinOptions{.backend = backend}), SizeError);
    CHECK(backend->calls().empty());
}

TEST_CASE("A scratch never holds two blocks, neither pinned nor pageable", "[own]") {
    const auto backend = std::make_shared<ScriptedBackend>();
    const auto& registry = audit::Registry::instance();
    constexpr std::size_t bytes = std::size_t{1} << 20;
    registry.reset_peak();
    const std::size_t start = registry.peak_locked_bytes();
    {
        PinnedScratch<std::byte> scratch(bytes, {.backend = backend});
        for (const std::size_t count : {std::size_t{1}, bytes, bytes / 2, bytes}) {
            static_cast<void>(scratch.acquire(count));
            CHECK(backend->outstanding().size() == 1);
        }
        PinnedScratch<std::byte> moved(std::move(scratch));
        scratch = std::move(moved);
        CHECK(scratch.acquire(bytes).size() == bytes);
    }
    CHECK(registry.peak_locked_bytes() == start + bytes);
    CHECK(backend->calls().size() == 2);
}

TEST_CASE("A scratch grows without ever holding two blocks, with the options that it was made with", "[own]") {
    const auto backend = std::make_shared<ScriptedBackend>();
    PinnedScratch<int> made(1024, {.backend = backend, .label = std::string("lp_") + "grads"});
    PinnedScratch<int> scratch(std::move(made));
    scratch.grow(4096);
    CHECK(scratch.capacity() == 4096);
    std::ranges::fill(scratch.acquire(4096), 5);
    const auto record = audit::Registry::instance().find(scratch.acquire(1).data());
    REQUIRE(record);
    CHECK(record->label == "lp_grads");
    CHECK(record->bytes == 4096 * sizeof(int));
    const auto calls = backend->calls();
    REQUIRE(calls.size() == 3);
    CHECK(calls[1].operation == ScriptedBackend::Operation::deallocate);
    CHECK(calls[1].block.address == calls[0].block.address);
    CHECK(calls[2].operation == ScriptedBackend::Operation::allocate);
    scratch.grow(4096);
    scratch.grow(7);
    CHECK(scratch.capacity() == 4096);
    CHECK(backend->calls().size() == 3);
}

TEST_CASE("A scratch that cannot grow is empty, holds nothing and may try again", "[own]") {
    const AuditState before = AuditState::now();
    const auto backend = std::make_shared<ScriptedBackend>();
    PinnedScratch<int> scratch(10, {.backend = backend, .label = "lp_grads"});
    CHECK_THROWS_AS(scratch.grow(std::numeric_limits<std::size_t>::max()), SizeError);
    CHECK(scratch.capacity() == 10);
    backend->fail_acquire(1);
    CHECK_THROWS_AS(scratch.grow(2000), PinError);
    CHECK(scratch.capacity() == 0);
    CHECK_FALSE(scratch.is_pinned());
    CHECK(scratch.acquire(0).empty());
    CHECK(backend->outstanding().empty());
    CHECK(AuditState::now() == before);
    scratch.grow(2000);
    CHECK(scratch.capacity() == 2000);
    CHECK(backend->outstanding().size() == 1);
}

TEST_CASE("A scratch grows only after its last use is complete", "[own]") {
    const auto backend = std::make_shared<ScriptedBackend>();
    PinnedScratch<int> scratch(10, {.backend = backend});
    const auto use = ManualToken::make(8010);
    scratch.record_use(use);
    scratch.grow(10);  // there is room: nobody is waited for
    CHECK_FALSE(use->is_complete());
    std::size_t calls_while_running = 0;
    std::jthread finisher([&] {
        std::this_thread::sleep_for(10ms);
        calls_while_running = backend->calls().size();
        use->complete();
    });
    scratch.grow(5000);
    finisher.join();
    CHECK(use->is_complete());
    CHECK(calls_while_running == 1);
    CHECK(backend->outstanding().size() == 1);
}

TEST_CASE("A scratch is pageable where the configuration says so", "[own]") {
    const auto backend = std::make_shared<ScriptedBackend>();
    const AuditState before = AuditState::now();
    PinnedScratch<int> scratch(1000, {.pinning = Pinning::pageable, .backend = backend});
    CHECK_FALSE(scratch.is_pinned());
    std::ranges::fill(scratch.acquire(1000), 3);
    CHECK(backend->calls().empty());
    CHECK(AuditState::now() == before);
}

TEST_CASE("Trap 1: a scratch is acquired only after its last use is complete on the host", "[own]") {
    PinnedScratch<int> scratch(10, {.backend = std::make_shared<ScriptedBackend>()});
    const auto first = ManualToken::make(8001);
    const auto second = ManualToken::make(8002);
    scratch.record_use(first);
    scratch.record_use(second);
    std::jthread finisher([&] {
        std::this_thread::sleep_for(10ms);
        second->complete();
        std::this_thread::sleep_for(10ms);
        first->complete();
    });
    static_cast<void>(scratch.acquire(10));
    CHECK(first->is_complete());
    CHECK(second->is_complete());
}

TEST_CASE("A refused capacity does not wait for anybody", "[own]") {
    PinnedScratch<int> scratch(10, {.backend = std::make_shared<ScriptedBackend>()});
    const auto use = ManualToken::make(8003);
    scratch.record_use(use);
    CHECK_THROWS_AS(scratch.acquire(11), CapacityError);
    use->complete();
}

TEST_CASE("Swapping scratches exchanges blocks and capacities", "[own]") {
    const auto backend = std::make_shared<ScriptedBackend>();
    PinnedScratch<int> first(10, {.backend = backend});
    PinnedScratch<int> second(20, {.backend = backend});
    const int* const data = second.acquire(20).data();
    first.swap(second);
    CHECK(first.capacity() == 20);
    CHECK(second.capacity() == 10);
    CHECK(first.acquire(20).data() == data);
}

}  // namespace pinwarden
