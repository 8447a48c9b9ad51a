// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/pool/pinned_pool.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include <pinwarden/audit/registry.hpp>
#include <pinwarden/audit/scope.hpp>
#include <pinwarden/backend/native_backend.hpp>
#include <pinwarden/backend/pageable_backend.hpp>
#include <pinwarden/backend/scripted_backend.hpp>
#include <pinwarden/core/bytes.hpp>
#include <pinwarden/core/error.hpp>
#include <pinwarden/own/pinned_buffer.hpp>
#include <pinwarden/own/pinned_registration.hpp>

#include <support/audit_state.hpp>
#include <support/child_process.hpp>
#include <support/failing_new.hpp>
#include <support/manual_token.hpp>
#include <support/own_pages.hpp>
#include <support/release_failure_log.hpp>

namespace pinwarden::testing {

namespace {

using audit::PinState;
using Buffer = PinnedBuffer<std::byte>;
using Operation = ScriptedBackend::Operation;

constexpr std::size_t limit = std::size_t{1} << 20;

const audit::Registry& registry() { return audit::Registry::instance(); }

// A pool over a backend that counts, and buffers made through it.
struct PoolUnderTest {
    explicit PoolUnderTest(std::size_t limit_bytes = limit)
        : pool(std::make_shared<PinnedPool>(backing, limit_bytes)) {}

    [[nodiscard]] Buffer buffer(std::size_t bytes, std::string_view label = "pooled") const {
        return Buffer(bytes, {.backend = pool, .label = label});
    }

    // Pins as many blocks as sizes, and gives them back in that order: the addresses they had.
    std::vector<const std::byte*> cache(std::initializer_list<std::size_t> sizes) const {
        std::vector<Buffer> buffers;
        std::vector<const std::byte*> addresses;
        for (const std::size_t bytes : sizes) {
            buffers.push_back(buffer(bytes));
            addresses.push_back(buffers.back().data());
        }
        for (Buffer& each : buffers) each.reset();
        return addresses;
    }

    std::shared_ptr<ScriptedBackend> backing = std::make_shared<ScriptedBackend>();
    std::shared_ptr<PinnedPool> pool;
};

std::vector<const std::byte*> released(const ScriptedBackend& backend) {
    std::vector<const std::byte*> addresses;
    for (const auto& call : backend.calls()) {
        if (call.operation == Operation::deallocate) addresses.push_back(call.block.address);
    }
    return addresses;
}

}  // namespace

TEST_CASE("A block that a handle gave back serves the next handle of as many pages", "[pool]") {
    const PoolUnderTest test;
    const std::byte* first = nullptr;
    {
        const Buffer buffer = test.buffer(5000);
        first = buffer.data();
    }
    const Buffer same = test.buffer(5000);
    CHECK(same.data() == first);
    const Buffer other = test.buffer(5000);
    CHECK(other.data() != first);
    CHECK(test.backing->acquire_count() == 2);
    CHECK(test.pool->statistics().reused == 1);
    CHECK(same.backend_name() == "scripted");
}

TEST_CASE("Blocks of another number of pages are not reused, however close", "[pool]") {
    const PoolUnderTest test;
    const auto addresses = test.cache({2 * page_bytes()});
    const Buffer fewer = test.buffer(page_bytes());
    const Buffer more = test.buffer(2 * page_bytes() + 1);
    CHECK(test.backing->acquire_count() == 3);
    const Buffer as_many = test.buffer(page_bytes() + 1);
    CHECK(as_many.data() == addresses[0]);
}

TEST_CASE("What a pool keeps counts as cached, stays locked and is found by its address", "[pool]") {
    const AuditState before = AuditState::now();
    const auto pool = std::make_shared<PinnedPool>(native_backend(), limit);
    audit::Scope scope("owner");
    Buffer buffer(5000, {.backend = pool, .scope = scope, .label = "kept"});
    const std::byte* const address = buffer.data();
    const AuditState live = AuditState::now();
    CHECK(live.counts.live.pins == before.counts.live.pins + 1);
    CHECK(live.counts.cached == before.counts.cached);
    buffer.reset();

    const AuditState cached = AuditState::now();
    CHECK(cached.counts.live == before.counts.live);
    CHECK(cached.counts.cached.pins == before.counts.cached.pins + 1);
    CHECK(cached.counts.cached.bytes == before.counts.cached.bytes + 5000);
    CHECK(cached.kernel_locked_bytes == live.kernel_locked_bytes);
    CHECK(cached.counts.locked_bytes() == live.counts.locked_bytes());
    const auto record = registry().find(address + 4999);
    REQUIRE(record);
    CHECK(record->state == PinState::cached);
    CHECK(record->label == "kept");
    CHECK(record->backend == "native");
    CHECK(record->scope.empty());
    CHECK(scope.close(std::chrono::seconds(0)).records.empty());
    CHECK(pool->statistics().cached_blocks == 1);
    CHECK(pool->statistics().cached_bytes == round_up(5000, page_bytes()));

    CHECK(pool->trim() == round_up(5000, page_bytes()));
    CHECK(AuditState::now() == before);
    CHECK_FALSE(registry().find(address));
}

TEST_CASE("The record of a reused block is its new owner's, to the byte", "[pool]") {
    const PoolUnderTest test;
    test.cache({4000});
    audit::Scope scope("second");
    const Buffer buffer(100, {.backend = test.pool, .scope = scope, .label = "a label too long for a short string"});
    const auto record = registry().find(buffer.data() + 99);
    REQUIRE(record);
    CHECK(record->state == PinState::live);
    CHECK(record->bytes == 100);
    CHECK(record->locked_bytes == page_bytes());
    CHECK(record->label == "a label too long for a short string");
    CHECK(record->scope == "second");
    CHECK(record->site.line() == __LINE__ - 8);
    CHECK(record->age < std::chrono::minutes(1));
    CHECK_FALSE(registry().find(buffer.data() + 100));
    CHECK(scope.report().counts.live.bytes == 100);
}

TEST_CASE("A block in flight is not reused before its copies are complete on the host", "[pool]") {
    const PoolUnderTest test;
    const auto use = ManualToken::make(1);
    Buffer dropped = test.buffer(100);
    const std::byte* const address = dropped.data();
    dropped.record_use(use);
    dropped.reset();
    CHECK(registry().counts().in_flight.pins == 1);
    CHECK(registry().counts().cached.pins == 0);
    const Buffer meanwhile = test.buffer(100);
    CHECK(meanwhile.data() != address);
    use->complete();
    const Buffer afterwards = test.buffer(100);
    CHECK(afterwards.data() == address);
    CHECK(registry().counts().in_flight.pins == 0);
}

TEST_CASE("Beyond its limit a pool unpins what lay unused the longest", "[pool]") {
    const std::size_t page = page_bytes();
    const PoolUnderTest test(4 * page);
    const auto addresses = test.cache({page, 2 * page, page});
    CHECK(released(*test.backing).empty());
    const auto more = test.cache({3 * page});
    CHECK(released(*test.backing) == std::vector{addresses[0], addresses[1]});
    CHECK(test.pool->statistics().cached_bytes == 4 * page);
    // A block that was in use meanwhile is young again, and the newest of a size goes first.
    const Buffer young = test.buffer(page);
    CHECK(young.data() == addresses[2]);
}

TEST_CASE("A block larger than a pool's limit is unpinned at once and drops nobody else", "[pool]") {
    const PoolUnderTest test(2 * page_bytes());
    const auto addresses = test.cache({page_bytes()});
    const auto large = test.cache({2 * page_bytes() + 1});
    CHECK(released(*test.backing) == large);
    CHECK(test.pool->statistics().cached_blocks == 1);
    CHECK(registry().counts().cached.pins == 1);
}

TEST_CASE("Trimming drops the oldest down to what may stay, and says how much it dropped", "[pool]") {
    const std::size_t page = page_bytes();
    const PoolUnderTest test;
    const auto addresses = test.cache({page, page, 2 * page});
    CHECK(test.pool->trim(4 * page) == 0);
    CHECK(test.pool->trim(3 * page) == page);
    CHECK(test.pool->trim(2 * page + 1) == page);
    CHECK(released(*test.backing) == std::vector{addresses[0], addresses[1]});
    CHECK(test.pool->trim() == 2 * page);
    CHECK(test.pool->trim() == 0);
    CHECK(test.backing->outstanding().empty());
}

TEST_CASE("A pool asks its backing for whole pages and releases them as they were", "[pool]") {
    const PoolUnderTest test;
    test.cache({1});
    { const Buffer buffer = test.buffer(7); }
    const std::size_t whole = page_bytes();
    CHECK(test.pool->trim() == whole);
    const auto calls = test.backing->calls();
    REQUIRE(calls.size() == 2);
    CHECK(calls[0].block.bytes == whole);
    CHECK(calls[1].block.bytes == whole);
    CHECK(calls[1].block.locked_bytes == calls[0].block.locked_bytes);
}

TEST_CASE("A cached block whose unpin fails is quarantined and never reused", "[pool]") {
    ReleaseFailureLog log;
    const PoolUnderTest test;
    const auto addresses = test.cache({100});
    const audit::Counts before = registry().counts();
    test.backing->answer_release(UnpinStatus::failed);
    test.pool->trim();
    test.backing->answer_release(UnpinStatus::done);
    CHECK(log.take().size() == 1);
    CHECK(registry().counts().quarantined.pins == before.quarantined.pins + 1);
    CHECK(registry().counts().cached.pins == before.cached.pins - 1);
    const Buffer buffer = test.buffer(100);
    CHECK(buffer.data() != addresses[0]);
    const auto record = registry().find(addresses[0]);
    REQUIRE(record);
    CHECK(record->state == PinState::quarantined);
    CHECK(record->backend == "scripted");
}

TEST_CASE("A cached block whose runtime is unloading is left to the system", "[pool]") {
    const PoolUnderTest test;
    test.cache({100});
    const audit::Counts before = registry().counts();
    test.backing->answer_release(UnpinStatus::unloading);
    test.pool->trim();
    CHECK(registry().counts().left_to_system.pins == before.left_to_system.pins + 1);
    CHECK(registry().counts().cached.pins == before.cached.pins - 1);
}

TEST_CASE("A refused pin is tried once more after what is cached was unpinned", "[pool]") {
    const PoolUnderTest test;
    const auto addresses = test.cache({page_bytes(), page_bytes()});
    test.backing->fail_acquire(1);
    const Buffer buffer = test.buffer(3 * page_bytes());
    CHECK(buffer.size() == 3 * page_bytes());
    CHECK(released(*test.backing) == addresses);
    test.backing->fail_acquire(1);
    CHECK_THROWS_AS(test.buffer(page_bytes()), PinError);
    CHECK(test.backing->outstanding().size() == 1);
}

TEST_CASE("A pool that is dropped unpins what it has cached, and lives as long as its handles", "[pool]") {
    const AuditState before = AuditState::now();
    PoolUnderTest test;
    test.cache({100, 5000});
    Buffer buffer = test.buffer(9000);
    Buffer dropped = test.buffer(9000);
    const auto use = ManualToken::make(2);
    dropped.record_use(use);
    dropped.reset();
    test.pool.reset();
    CHECK(released(*test.backing).empty());
    buffer.reset();
    use->complete();
    registry().collect();
    CHECK(released(*test.backing).size() == 4);
    CHECK(test.backing->outstanding().empty());
    CHECK(AuditState::now() == before);
}

TEST_CASE("Pageable memory and registrations pass a pool by", "[pool]") {
    const PoolUnderTest test;
    OwnPages pages(1);
    {
        const Buffer pageable(100, {.pinning = Pinning::pageable, .backend = test.pool});
        CHECK(pageable.backend_name() == "pageable");
        const PinnedRegistration registration(pages.bytes_at(0, 100), {.backend = test.pool});
        CHECK(registration.is_pinned());
    }
    test.backing->fail_acquire(1);
    { const Buffer fallen(100, {.pinning = Pinning::prefer_pinned, .backend = test.pool}); }
    CHECK(test.pool->statistics().cached_blocks == 0);
    CHECK(test.backing->outstanding().empty());
    CHECK(registry().counts().cached.pins == 0);
}

TEST_CASE("A pool over pageable memory reuses it and counts no pin", "[pool]") {
    const auto pool = std::make_shared<PinnedPool>(pageable_backend(), limit);
    const AuditState before = AuditState::now();
    const std::byte* address = nullptr;
    {
        const Buffer buffer(100, {.backend = pool});
        address = buffer.data();
        CHECK_FALSE(buffer.is_pinned());
    }
    CHECK(AuditState::now() == before);
    const Buffer buffer(200, {.backend = pool});
    CHECK(buffer.data() == address);
}

TEST_CASE("A child process begins with an empty pool and leaves its parent's blocks alone", "[pool]") {
    const auto pool = std::make_shared<PinnedPool>(native_backend(), limit);
    const std::byte* cached = nullptr;
    Buffer held(100, {.backend = pool});
    {
        const Buffer buffer(100, {.backend = pool});
        cached = buffer.data();
    }
    const AuditState before = AuditState::now();
    const ChildResult child = run_in_child([&]() -> std::string {
        if (pool->statistics().cached_blocks != 0) return "the child has its parent's blocks";
        if (pool->trim() != 0) return "the child unpinned its parent's blocks";
        held.reset();
        if (pool->statistics().cached_blocks != 0) return "the child caches its parent's handle";
        std::optional<Buffer> own(std::in_place, 100, PinOptions{.backend = pool});
        if (own->data() == cached) return "the child reuses its parent's block";
        if (kernel_locked_bytes() != page_bytes()) return "the child's pin is not locked";
        own.reset();
        if (pool->statistics().cached_blocks != 1) return "the child's block is not kept";
        if (registry().counts().cached.pins != 1) return "the child's registry does not count it";
        return pool->trim() == page_bytes() && kernel_locked_bytes() == 0 ? "fine" : "the child's trim left something";
    });
    CHECK(child.answer == "fine");
    CHECK(child.exit_status == 0);
    CHECK(AuditState::now() == before);
    CHECK(pool->statistics().cached_blocks == 1);
    const Buffer again(100, {.backend = pool});
    CHECK(again.data() == cached);
}

TEST_CASE("Where an allocation fails, a pool loses no block", "[pool][failing_new]") {
    const PoolUnderTest test;
    const AuditState before = AuditState::now();
    const std::string label(100, 'l');
    std::size_t bytes = 0;
    const auto take_and_give_back = [&] {
        bytes += page_bytes();  // a size it has not seen, and one that it has cached
        try {
            const Buffer fresh = test.buffer(bytes, label);
            test.cache({100});
            const Buffer reused = test.buffer(100, label);
        } catch (const PinError&) {  // the backing's memory is an allocation as well
            throw std::bad_alloc();
        }
    };
    const auto trim = [&] {
        test.pool->trim();
        CHECK(AuditState::now() == before);
        CHECK(test.backing->outstanding().empty());
    };
    CHECK(for_each_failing_new(take_and_give_back, trim) > 5);
    trim();
}

}  // namespace pinwarden::testing
