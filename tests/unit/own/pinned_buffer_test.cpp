// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/own/pinned_buffer.hpp>

#include <pinwarden/audit/registry.hpp>
#include <pinwarden/backend/native_backend.hpp>
#include <pinwarden/backend/scripted_backend.hpp>
#include <pinwarden/core/error.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include <support/audit_state.hpp>

namespace pinwarden {

namespace {

using testing::AuditState;

constexpr std::size_t largest = std::numeric_limits<std::size_t>::max();

struct Pair {
    std::int32_t key;
    double value;
    friend bool operator==(const Pair&, const Pair&) = default;
};

PinOptions scripted(const std::shared_ptr<ScriptedBackend>& backend) { return {.backend = backend}; }

}  // namespace

TEST_CASE("A buffer has room for exactly its elements", "[own]") {
    const AuditState before = AuditState::now();
    {
        PinnedBuffer<double> buffer(1000, {.backend = native_backend()});
        CHECK(buffer.size() == 1000);
        CHECK(buffer.size_bytes() == 8000);
        CHECK_FALSE(buffer.empty());
        CHECK(buffer.span().data() == buffer.data());
        CHECK(buffer.span().size() == 1000);
        CHECK(std::as_const(buffer).span().data() == buffer.data());
        CHECK(reinterpret_cast<std::uintptr_t>(buffer.data()) % page_bytes() == 0);
        std::iota(buffer.span().begin(), buffer.span().end(), 0.5);
        CHECK(std::as_const(buffer).span()[999] == 999.5);
        CHECK(audit::Registry::instance().find(buffer.data()).value().bytes == 8000);
    }
    CHECK(AuditState::now() == before);
}

TEST_CASE("Views of a buffer that cannot be written through are of constants", "[own]") {
    STATIC_REQUIRE(
        std::is_same_v<decltype(std::declval<const PinnedBuffer<int>&>().span()), gsl::span<const int>>);
    STATIC_REQUIRE(std::is_same_v<decltype(std::declval<const PinnedBuffer<int>&>().data()), const int*>);
    STATIC_REQUIRE(std::is_same_v<decltype(std::declval<PinnedBuffer<int>&>().span()), gsl::span<int>>);
}

TEST_CASE("Only what the device can copy byte by byte can be an element", "[own]") {
    STATIC_REQUIRE(HostElement<float>);
    STATIC_REQUIRE(HostElement<Pair>);
    STATIC_REQUIRE_FALSE(HostElement<const float>);
    STATIC_REQUIRE_FALSE(HostElement<volatile float>);
    STATIC_REQUIRE_FALSE(HostElement<std::vector<int>>);
    STATIC_REQUIRE_FALSE(HostElement<std::unique_ptr<int>>);
}

TEST_CASE("A size that overflows is an error before anything is asked of a backend", "[own]") {
    const auto backend = std::make_shared<ScriptedBackend>();
    const AuditState before = AuditState::now();
    CHECK_THROWS_AS(PinnedBuffer<double>(largest / 8 + 1, scripted(backend)), SizeError);
    CHECK_THROWS_AS(PinnedBuffer<Pair>(largest, scripted(backend)), SizeError);
    CHECK(backend->calls().empty());
    CHECK(AuditState::now() == before);
    // One that fits into a number but into no machine is refused by the backend.
    CHECK_THROWS_AS(PinnedBuffer<std::byte>(largest / 2, PinOptions{.backend = native_backend()}), PinError);
    CHECK_THROWS_AS(PinnedBuffer<std::byte>(largest, PinOptions{.backend = native_backend()}), SizeError);
    CHECK(AuditState::now() == before);
}

TEST_CASE("A copy has the source's elements and nothing of its memory", "[own]") {
    const auto backend = std::make_shared<ScriptedBackend>();
    const std::vector<Pair> source{{1, 0.5}, {2, -1.0}, {3, 1e300}};
    auto copy = PinnedBuffer<Pair>::copy_of(source, scripted(backend));
    REQUIRE(copy.size() == 3);
    CHECK(std::ranges::equal(copy.span(), source));
    copy.data()[0].key = 17;
    CHECK(source[0].key == 1);
    CHECK(backend->acquire_count() == 1);
}

TEST_CASE("A copy of nothing is a valid empty buffer", "[own]") {
    const auto backend = std::make_shared<ScriptedBackend>();
    const auto copy = PinnedBuffer<int>::copy_of({}, scripted(backend));
    CHECK(copy.empty());
    CHECK(copy.span().empty());
    CHECK(backend->calls().empty());
}

TEST_CASE("A copy names the line that asked for it, not one of the library", "[own]") {
    const std::array source{1, 2, 3};
    const Site here = Site::current();
    const auto copy = PinnedBuffer<int>::copy_of(source, {.backend = std::make_shared<ScriptedBackend>()});
    const auto record = audit::Registry::instance().find(copy.data()).value();
    CHECK(record.site.line() == here.line() + 1);
    CHECK(std::string(record.site.file_name()).ends_with("pinned_buffer_test.cpp"));
}

TEST_CASE("Swapping exchanges blocks and sizes", "[own]") {
    const auto backend = std::make_shared<ScriptedBackend>();
    PinnedBuffer<int> first(10, scripted(backend));
    PinnedBuffer<int> second(20, scripted(backend));
    const int* const data_1 = first.data();
    const int* const data_2 = second.data();
    first.swap(second);
    CHECK(first.data() == data_2);
    CHECK(first.size() == 20);
    CHECK(second.data() == data_1);
    CHECK(second.size() == 10);
    CHECK(backend->calls().size() == 2);
}

TEST_CASE("Buffers live in containers and survive their growth", "[own]") {
    const auto backend = std::make_shared<ScriptedBackend>();
    const AuditState before = AuditState::now();
    {
        std::vector<PinnedBuffer<int>> buffers;
        for (int i = 1; i <= 100; ++i) {
            buffers.emplace_back(static_cast<std::size_t>(i), scripted(backend));
            std::ranges::fill(buffers.back().span(), i);
        }
        buffers.erase(buffers.begin() + 10, buffers.begin() + 20);
        for (const auto& buffer : buffers) {
            CHECK(std::ranges::all_of(buffer.span(),
                                      [&](int value) { return value == static_cast<int>(buffer.size()); }));
        }
        CHECK(backend->outstanding().size() == 90);
    }
    CHECK(backend->outstanding().empty());
    CHECK(AuditState::now() == before);
}

TEST_CASE("An owner whose second buffer is refused gives its first one back", "[own]") {
    const auto backend = std::make_shared<ScriptedBackend>();
    struct Owner {
        explicit Owner(const std::shared_ptr<ScriptedBackend>& script)
            : first(10, scripted(script)), second(10, scripted(script)) {}
        PinnedBuffer<int> first;
        PinnedBuffer<int> second;
    };
    const AuditState before = AuditState::now();
    backend->fail_acquire(2);
    CHECK_THROWS_AS(Owner(backend), PinError);
    CHECK(backend->outstanding().empty());
    CHECK(backend->calls().size() == 3);
    CHECK(AuditState::now() == before);
}

}  // namespace pinwarden
