// SPDX-License-Identifier: Apache-2.0
/// @file
/// What all handles promise: ownership, whether to pin, release, copies in flight. Each test runs for each of
/// them.
#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <pinwarden/audit/registry.hpp>
#include <pinwarden/backend/native_backend.hpp>
#include <pinwarden/backend/scripted_backend.hpp>
#include <pinwarden/backend/selection.hpp>
#include <pinwarden/core/bytes.hpp>
#include <pinwarden/core/error.hpp>
#include <pinwarden/own/pinned_buffer.hpp>
#include <pinwarden/own/pinned_registration.hpp>
#include <pinwarden/own/pinned_scratch.hpp>

#include <support/audit_state.hpp>
#include <support/child_process.hpp>
#include <support/manual_token.hpp>
#include <support/own_pages.hpp>
#include <support/release_failure_log.hpp>

namespace pinwarden::testing {

namespace {

using namespace std::chrono_literals;
using audit::PinState;
using Catch::Matchers::ContainsSubstring;

constexpr std::size_t count = 1500;  // of 4 bytes: less than two pages

// How each handle is made, and where its memory is. Registrations get pages of their own, which outlive the
// handle.
struct BufferUnderTest {
    using Handle = PinnedBuffer<int>;
    Handle make(std::size_t elements, const PinOptions& options) { return Handle(elements, options); }
    static const void* address(const Handle& handle) { return handle.data(); }
    static std::size_t elements(const Handle& handle) { return handle.size(); }
};

struct ScratchUnderTest {
    using Handle = PinnedScratch<int>;
    Handle make(std::size_t elements, const PinOptions& options) { return Handle(elements, options); }
    static const void* address(const Handle& handle) { return const_cast<Handle&>(handle).acquire(0).data(); }
    static std::size_t elements(const Handle& handle) { return handle.capacity(); }
};

struct RegistrationUnderTest {
    using Handle = PinnedRegistration;
    Handle make(std::size_t elements, const PinOptions& options) {
        pages.push_back(std::make_unique<OwnPages>(2));
        return Handle(gsl::span(reinterpret_cast<int*>(pages.back()->data()), elements), options);
    }
    static const void* address(const Handle& handle) { return handle.address(); }
    static std::size_t elements(const Handle& handle) { return handle.size_bytes() / sizeof(int); }
    std::vector<std::unique_ptr<OwnPages>> pages;
};

template <typename UnderTest>
void check_empty(const typename UnderTest::Handle& handle) {
    CHECK(UnderTest::elements(handle) == 0);
    CHECK(UnderTest::address(handle) == nullptr);
    CHECK(handle.locked_bytes() == 0);
    CHECK_FALSE(handle.is_pinned());
    CHECK_FALSE(handle.is_device_pinned());
    CHECK_FALSE(handle.fell_back());
    CHECK(handle.backend_name().empty());
    handle.wait();
    handle.record_use(nullptr);  // nothing is used
}

bool is_release(const ScriptedBackend::Call& call) {
    return call.operation == ScriptedBackend::Operation::deallocate ||
           call.operation == ScriptedBackend::Operation::unregister_memory;
}

std::vector<const void*> released(const ScriptedBackend& backend) {
    std::vector<const void*> addresses;
    for (const auto& call : backend.calls()) {
        if (is_release(call)) addresses.push_back(call.block.address);
    }
    return addresses;
}

}  // namespace

#define PINWARDEN_HANDLE_TEST(name, tags) \
    TEMPLATE_TEST_CASE(name, tags, BufferUnderTest, ScratchUnderTest, RegistrationUnderTest)

PINWARDEN_HANDLE_TEST("A handle can be moved but not copied, and neither move nor release throws", "[own]") {
    using Handle = typename TestType::Handle;
    STATIC_REQUIRE_FALSE(std::copy_constructible<Handle>);
    STATIC_REQUIRE_FALSE(std::is_copy_assignable_v<Handle>);
    STATIC_REQUIRE(std::is_nothrow_move_constructible_v<Handle>);
    STATIC_REQUIRE(std::is_nothrow_move_assignable_v<Handle>);
    STATIC_REQUIRE(std::is_nothrow_swappable_v<Handle>);
    STATIC_REQUIRE(std::is_nothrow_default_constructible_v<Handle>);
    STATIC_REQUIRE(std::is_nothrow_destructible_v<Handle>);
    STATIC_REQUIRE(noexcept(std::declval<Handle&>().reset()));
}

PINWARDEN_HANDLE_TEST(
    "A handle made of nothing, of zero elements or moved from is empty and releases nothing", "[own]") {
    TestType test;
    const auto backend = std::make_shared<ScriptedBackend>();
    const AuditState before = AuditState::now();
    check_empty<TestType>(typename TestType::Handle());
    const auto none = test.make(0, {.backend = backend});
    check_empty<TestType>(none);
    CHECK(backend->calls().empty());
    CHECK(AuditState::now() == before);

    auto moved = test.make(count, {.backend = backend});
    {
        const auto taken = std::move(moved);
        check_empty<TestType>(moved);
        CHECK(released(*backend).empty());
        CHECK(TestType::elements(taken) == count);
    }
    CHECK(released(*backend).size() == 1);
    moved.reset();
    CHECK(released(*backend).size() == 1);
    moved = test.make(count, {.backend = backend});
    CHECK(moved.is_pinned());
    moved.reset();
    check_empty<TestType>(moved);
    CHECK(backend->outstanding().empty());
    CHECK(AuditState::now() == before);
}

PINWARDEN_HANDLE_TEST("A handle releases once, and the block it acquired", "[own]") {
    TestType test;
    const auto backend = std::make_shared<ScriptedBackend>();
    std::optional first(test.make(count, {.backend = backend}));
    std::optional second(test.make(count, {.backend = backend}));
    const void* const address_1 = TestType::address(*first);
    const void* const address_2 = TestType::address(*second);
    first.reset();
    CHECK(released(*backend) == std::vector{address_1});
    second->reset();
    second->reset();
    second.reset();
    CHECK(released(*backend) == std::vector{address_1, address_2});
}

PINWARDEN_HANDLE_TEST("Move-assignment releases the old block exactly once and keeps the new one", "[own]") {
    TestType test;
    const auto backend = std::make_shared<ScriptedBackend>();
    {
        auto target = test.make(count, {.backend = backend});
        auto source = test.make(count / 2, {.backend = backend});
        const void* const old_block = TestType::address(target);
        const void* const new_block = TestType::address(source);
        target = std::move(source);
        CHECK(released(*backend) == std::vector{old_block});
        CHECK(TestType::address(target) == new_block);
        CHECK(TestType::elements(target) == count / 2);
        check_empty<TestType>(source);
        target = typename TestType::Handle();
        CHECK(released(*backend) == std::vector{old_block, new_block});
    }
    CHECK(released(*backend).size() == 2);
}

PINWARDEN_HANDLE_TEST("A handle assigned to itself keeps its block", "[own]") {
    TestType test;
    const auto backend = std::make_shared<ScriptedBackend>();
    auto handle = test.make(count, {.backend = backend});
    const void* const address = TestType::address(handle);
    auto& same = handle;  // by another name, so that no compiler warns
    handle = std::move(same);
    CHECK(TestType::address(handle) == address);
    CHECK(TestType::elements(handle) == count);
    CHECK(handle.is_pinned());
    CHECK(released(*backend).empty());
    std::swap(handle, same);
    CHECK(TestType::address(handle) == address);
    CHECK(released(*backend).empty());
}

PINWARDEN_HANDLE_TEST("Pinned memory is pinned, and its handle says by whom", "[own]") {
    TestType test;
    const std::size_t before = kernel_locked_bytes();
    {
        const auto handle = test.make(count, {.backend = native_backend()});
        CHECK(handle.is_pinned());
        CHECK_FALSE(handle.is_device_pinned());
        CHECK_FALSE(handle.fell_back());
        CHECK(handle.backend_name() == "native");
        CHECK(handle.locked_bytes() == 2 * page_bytes());
        CHECK(kernel_locked_bytes() == before + 2 * page_bytes());
    }
    CHECK(kernel_locked_bytes() == before);
}

PINWARDEN_HANDLE_TEST("Pageable memory is not pinned, whatever the backend", "[own]") {
    TestType test;
    const auto backend = std::make_shared<ScriptedBackend>();
    const AuditState before = AuditState::now();
    const auto handle = test.make(count, {.pinning = Pinning::pageable, .backend = backend});
    CHECK_FALSE(handle.is_pinned());
    CHECK_FALSE(handle.fell_back());
    CHECK(handle.locked_bytes() == 0);
    CHECK(handle.backend_name() == "pageable");
    CHECK(TestType::elements(handle) == count);
    CHECK(TestType::address(handle) != nullptr);
    CHECK(backend->calls().empty());
    CHECK(AuditState::now() == before);
}

PINWARDEN_HANDLE_TEST("Pinned memory that is refused is an error, never pageable memory", "[own]") {
    TestType test;
    const auto backend = std::make_shared<ScriptedBackend>();
    const AuditState before = AuditState::now();
    const audit::Tally fallbacks = audit::Registry::instance().fallbacks();
    backend->fail_acquire(1);
    CHECK_THROWS_AS(test.make(count, {.backend = backend}), PinError);
    CHECK(backend.use_count() == 1);  // the record that was reserved for it went back too
    CHECK(audit::Registry::instance().fallbacks() == fallbacks);
    CHECK(backend->outstanding().empty());
    CHECK(AuditState::now() == before);
}

PINWARDEN_HANDLE_TEST("Preferred pins are pinned if that is granted, else pageable, and say which", "[own]") {
    TestType test;
    const auto backend = std::make_shared<ScriptedBackend>();
    const audit::Tally fallbacks = audit::Registry::instance().fallbacks();
    const auto granted = test.make(count, {.pinning = Pinning::prefer_pinned, .backend = backend});
    CHECK(granted.is_pinned());
    CHECK_FALSE(granted.fell_back());
    CHECK(audit::Registry::instance().fallbacks() == fallbacks);

    const AuditState before = AuditState::now();
    backend->fail_acquire(1);
    auto fallen = test.make(count, {.pinning = Pinning::prefer_pinned, .backend = backend});
    CHECK_FALSE(fallen.is_pinned());
    CHECK(fallen.fell_back());
    CHECK(fallen.backend_name() == "pageable");
    CHECK(fallen.locked_bytes() == 0);
    CHECK(TestType::elements(fallen) == count);
    CHECK(audit::Registry::instance().fallbacks().pins == fallbacks.pins + 1);
    CHECK(AuditState::now() == before);
    fallen.reset();
    CHECK(released(*backend).empty());
    // Whether it fell back belongs to the block, not to the place where the record of the next one is kept.
    const auto next = test.make(count, {.backend = backend});
    CHECK_FALSE(next.fell_back());
}

PINWARDEN_HANDLE_TEST("A release reads neither the environment nor the options again", "[own]") {
    const ChildResult child = run_in_child([] {
        ::setenv(backend_variable.data(), "native", 1);
        TestType test;
        const AuditState before = AuditState::now();
        const auto backend = std::make_shared<ScriptedBackend>();
        PinOptions options;
        auto handle = test.make(count, options);
        auto scripted = test.make(count, {.backend = backend});
        ::setenv(backend_variable.data(), "no such backend", 1);
        options.pinning = Pinning::pageable;
        options.backend = backend;
        const bool native = handle.backend_name() == "native" && handle.is_pinned();
        handle.reset();
        scripted.reset();
        const bool as_acquired = backend->outstanding().empty() && backend->calls().size() == 2;
        return std::string(native && as_acquired && AuditState::now() == before ? "yes" : "no");
    });
    CHECK(child.exit_status == 0);
    CHECK(child.answer == "yes");
}

PINWARDEN_HANDLE_TEST("A block keeps its backend alive until it is released", "[own]") {
    TestType test;
    auto backend = std::make_shared<ScriptedBackend>();
    const std::weak_ptr<ScriptedBackend> watch = backend;
    auto handle = test.make(count, {.backend = backend});
    backend.reset();
    CHECK_FALSE(watch.expired());
    handle.reset();
    CHECK(watch.expired());
}

PINWARDEN_HANDLE_TEST("A failed unpin is reported and quarantines the memory for good", "[own]") {
    TestType test;
    ReleaseFailureLog log;
    const auto backend = std::make_shared<ScriptedBackend>();
    const audit::Counts before = audit::Registry::instance().counts();
    auto handle = test.make(count, {.backend = backend, .label = "lp_grads"});
    auto* const memory = static_cast<int*>(const_cast<void*>(TestType::address(handle)));
    memory[count - 1] = 4711;
    backend->answer_release(UnpinStatus::failed);
    handle.reset();
    backend->answer_release(UnpinStatus::done);

    const auto failures = log.take();
    REQUIRE(failures.size() == 1);
    CHECK(failures[0].address == memory);
    CHECK(failures[0].bytes == 2 * page_bytes());
    CHECK(failures[0].code != 0);
    CHECK_THAT(failures[0].text, ContainsSubstring("scripted unpin(0x") && ContainsSubstring("'lp_grads'") &&
                                     ContainsSubstring("handle_contract.cpp") &&
                                     ContainsSubstring("quarantined"));
    check_empty<TestType>(handle);
    const audit::Counts after = audit::Registry::instance().counts();
    CHECK(after.live == before.live);
    CHECK(after.quarantined.pins == before.quarantined.pins + 1);
    CHECK(after.quarantined.bytes == before.quarantined.bytes + count * sizeof(int));
    CHECK(after.locked_bytes() == before.locked_bytes() + 2 * page_bytes());
    audit::Registry::instance().reset_peak();
    CHECK(audit::Registry::instance().peak_locked_bytes() == after.locked_bytes());

    const auto record = audit::Registry::instance().find(memory).value();
    CHECK(record.state == PinState::quarantined);
    CHECK(record.label == "lp_grads");
    CHECK_THAT(record.detail, ContainsSubstring("scripted unpin failed"));
    CHECK(memory[count - 1] == 4711);
    // Nobody tries again, and nobody gets this memory.
    audit::Registry::instance().collect();
    for (int i = 0; i < 50; ++i) CHECK(TestType::address(test.make(count, {.backend = backend})) != memory);
    CHECK(std::ranges::count(released(*backend), static_cast<const void*>(memory)) == 1);
    CHECK(log.take().empty());
    CHECK(memory[count - 1] == 4711);
    // A registration's pages must stay as long as the quarantine, which is to the end of the process.
    static std::vector<TestType>& kept = *new std::vector<TestType>();
    kept.push_back(std::move(test));
}

PINWARDEN_HANDLE_TEST("Memory of a runtime that is unloading is left to the system, and counted as such",
                      "[own]") {
    TestType test;
    ReleaseFailureLog log;
    const auto backend = std::make_shared<ScriptedBackend>();
    const audit::Counts before = audit::Registry::instance().counts();
    auto handle = test.make(count, {.backend = backend});
    const void* const address = TestType::address(handle);
    backend->answer_release(UnpinStatus::unloading);
    handle.reset();
    const audit::Counts after = audit::Registry::instance().counts();
    CHECK(after.live == before.live);
    CHECK(after.quarantined == before.quarantined);
    CHECK(after.left_to_system.pins == before.left_to_system.pins + 1);
    CHECK(after.left_to_system.locked_bytes == before.left_to_system.locked_bytes + 2 * page_bytes());
    CHECK(after.locked_bytes() == before.locked_bytes());
    CHECK_FALSE(audit::Registry::instance().find(address));
    CHECK(log.take().empty());
}

}  // namespace pinwarden::testing
