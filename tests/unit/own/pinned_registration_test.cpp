// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/own/pinned_registration.hpp>

#include <pinwarden/audit/registry.hpp>
#include <pinwarden/backend/native_backend.hpp>
#include <pinwarden/backend/scripted_backend.hpp>
#include <pinwarden/core/bytes.hpp>
#include <pinwarden/core/error.hpp>
#include <pinwarden/core/release_failure.hpp>
#include <pinwarden/own/pinned_buffer.hpp>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <support/audit_state.hpp>
#include <support/manual_token.hpp>
#include <support/own_pages.hpp>
#include <support/release_failure_log.hpp>

namespace pinwarden {

namespace {

using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;
using testing::AuditState;
using testing::ManualToken;
using testing::OwnPages;

const PinOptions native{.backend = native_backend()};

std::string text_of_overlap(gsl::span<std::byte> memory, const PinOptions& options = native) {
    try {
        const PinnedRegistration registration(memory, options);
    } catch (const OverlapError& error) {
        return error.what();
    }
    return "no error";
}

// Calls what a test gives it in the middle of an unpin, and answers what the test wants.
class InterruptedBackend final : public PinBackend {
public:
    std::function<void()> while_unregistering = [] {};
    UnpinAnswer answer{};

    [[nodiscard]] std::string_view name() const noexcept override { return "interrupted"; }
    [[nodiscard]] bool pins() const noexcept override { return true; }
    [[nodiscard]] HostBlock allocate(std::size_t bytes) override { return native_backend()->allocate(bytes); }
    [[nodiscard]] UnpinAnswer deallocate(const HostBlock& block) noexcept override {
        return native_backend()->deallocate(block);
    }
    [[nodiscard]] HostBlock register_memory(std::byte* address, std::size_t bytes) override {
        return native_backend()->register_memory(address, bytes);
    }
    [[nodiscard]] UnpinAnswer unregister_memory(const HostBlock& block) noexcept override {
        while_unregistering();
        return answer.status == UnpinStatus::failed ? answer : native_backend()->unregister_memory(block);
    }
};

bool overlaps(gsl::span<std::byte> memory, const PinOptions& options = native) {
    return text_of_overlap(memory, options) != "no error";
}

}  // namespace

TEST_CASE("A registration locks every page that holds one of its bytes", "[own]") {
    const std::size_t page = page_bytes();
    const OwnPages pages(4);
    const AuditState before = AuditState::now();
    const auto locked = [&](std::size_t offset, std::size_t bytes) {
        const PinnedRegistration registration(pages.bytes_at(offset, bytes), native);
        CHECK(registration.address() == pages.data() + offset);
        CHECK(registration.size_bytes() == bytes);
        CHECK(AuditState::now().kernel_locked_bytes ==
              before.kernel_locked_bytes + registration.locked_bytes());
        return registration.locked_bytes() / page;
    };
    CHECK(locked(0, 1) == 1);
    CHECK(locked(0, page) == 1);
    CHECK(locked(page - 1, 2) == 2);
    CHECK(locked(1, page) == 2);
    CHECK(locked(page - 1, page + 2) == 3);
    CHECK(locked(0, 4 * page) == 4);
    CHECK(AuditState::now() == before);
}

TEST_CASE("A registration takes the size of its elements into account", "[own]") {
    const OwnPages pages(2);
    const gsl::span<double> elements(reinterpret_cast<double*>(pages.data()), 600);
    const PinnedRegistration registration(elements, native);
    CHECK(registration.size_bytes() == 4800);
    CHECK(registration.locked_bytes() == 2 * page_bytes());
}

TEST_CASE("Memory stays its owner's: content and address are as before", "[own]") {
    std::vector<int> memory(5000, 7);
    const int* const address = memory.data();
    {
        const PinnedRegistration registration(gsl::span<int>(memory), native);
        CHECK(std::ranges::count(memory, 7) == 5000);
        memory[4999] = 8;
    }
    CHECK(memory.data() == address);
    CHECK(memory[4999] == 8);
    memory.assign(5000, 9);
}

TEST_CASE("A range that shares a page with another registration is rejected, in either order", "[own]") {
    const std::size_t page = page_bytes();
    const OwnPages pages(6);
    const AuditState before = AuditState::now();
    struct Ranges {
        std::size_t offset_1, bytes_1, offset_2, bytes_2;
    };
    const Ranges ranges =
        GENERATE_REF(values<Ranges>({{0, page, 0, page},                        // the same
                                     {page, page, 0, 6 * page},                 // inside the other
                                     {0, 2 * page, page, 2 * page},             // half and half
                                     {0, 10, 20, 10},                           // apart, on one page
                                     {0, page + 1, 2 * page - 1, 1},            // apart, on the last page
                                     {3 * page + 9, 1, 2 * page, page + 1}}));  // first byte of a page
    const auto first = pages.bytes_at(ranges.offset_1, ranges.bytes_1);
    const auto second = pages.bytes_at(ranges.offset_2, ranges.bytes_2);
    {
        const PinnedRegistration held(first, native);
        const AuditState during = AuditState::now();
        CHECK(overlaps(second));
        CHECK(AuditState::now() == during);
    }
    {
        const PinnedRegistration held(second, native);
        const AuditState during = AuditState::now();
        CHECK(overlaps(first));
        CHECK(AuditState::now() == during);
    }
    CHECK_FALSE(overlaps(first));
    CHECK_FALSE(overlaps(second));
    CHECK(AuditState::now() == before);
}

TEST_CASE("Ranges on neighbouring pages do not overlap", "[own]") {
    const std::size_t page = page_bytes();
    const OwnPages pages(3);
    const PinnedRegistration middle(pages.bytes_at(page, page), native);
    const PinnedRegistration below(pages.bytes_at(page - 1, 1), native);
    const PinnedRegistration above(pages.bytes_at(2 * page, 1), native);
    CHECK(middle.is_pinned());
    CHECK(below.is_pinned());
    CHECK(above.is_pinned());
}

TEST_CASE("After its reset a page may be registered again", "[own]") {
    const OwnPages pages(1);
    PinnedRegistration first(pages.bytes_at(0, 8), native);
    REQUIRE(overlaps(pages.bytes_at(8, 8)));
    first.reset();
    PinnedRegistration second(pages.bytes_at(8, 8), native);
    CHECK(second.is_pinned());
    CHECK(overlaps(pages.bytes_at(0, 8)));
    PinnedRegistration moved(std::move(second));
    CHECK(overlaps(pages.bytes_at(0, 8)));
    moved = PinnedRegistration();
    CHECK_FALSE(overlaps(pages.bytes_at(0, 8)));
}

TEST_CASE("A refused registration leaves its pages free", "[own]") {
    const OwnPages pages(1);
    const auto backend = std::make_shared<ScriptedBackend>();
    const AuditState before = AuditState::now();
    backend->fail_acquire(1);
    CHECK_THROWS_AS(PinnedRegistration(pages.bytes_at(0, 8), {.backend = backend}), PinError);
    CHECK(AuditState::now() == before);
    const PinnedRegistration again(pages.bytes_at(8, 8), {.backend = backend});
    CHECK(again.is_pinned());
}

TEST_CASE("The memory of a buffer is pinned already and cannot be registered", "[own]") {
    PinnedBuffer<std::byte> buffer(100, native);
    CHECK_THAT(text_of_overlap(buffer.span()), ContainsSubstring("100 bytes at 0x") &&
                                                   ContainsSubstring("does not count locks") &&
                                                   ContainsSubstring("release that pin first"));
    CHECK(buffer.is_pinned());
}

TEST_CASE("A preferred pin that overlaps is an error: pageable memory would not make it right", "[own]") {
    const OwnPages pages(1);
    const PinnedRegistration held(pages.bytes_at(0, 8), native);
    CHECK(overlaps(pages.bytes_at(8, 8), {.pinning = Pinning::prefer_pinned, .backend = native_backend()}));
}

TEST_CASE("A pageable registration registers nothing, and claims no page", "[own]") {
    const OwnPages pages(1);
    const AuditState before = AuditState::now();
    const PinnedRegistration pageable(pages.bytes_at(0, 100), {.pinning = Pinning::pageable});
    CHECK_FALSE(pageable.is_pinned());
    CHECK(AuditState::now() == before);
    CHECK_FALSE(audit::Registry::instance().find(pages.data()));
    const PinnedRegistration pinned(pages.bytes_at(0, 100), native);
    CHECK(pinned.is_pinned());
    const PinnedRegistration twice(pages.bytes_at(0, 100), {.pinning = Pinning::pageable});
    CHECK_FALSE(twice.is_pinned());
}

TEST_CASE("A preferred registration that was refused claims no page either", "[own]") {
    const OwnPages pages(1);
    const auto backend = std::make_shared<ScriptedBackend>();
    backend->fail_acquire(1);
    const PinnedRegistration fallen(pages.bytes_at(0, 8),
                                    {.pinning = Pinning::prefer_pinned, .backend = backend});
    REQUIRE(fallen.fell_back());
    CHECK_FALSE(audit::Registry::instance().find(pages.data()));
    CHECK_FALSE(overlaps(pages.bytes_at(8, 8)));
}

TEST_CASE("The pages of a quarantined registration stay claimed", "[own]") {
    static const OwnPages& pages = *new OwnPages(1);  // stays as long as the quarantine
    const auto backend = std::make_shared<ScriptedBackend>();
    const auto previous = set_release_failure_handler([](const ReleaseFailure&) noexcept {});
    PinnedRegistration registration(pages.bytes_at(0, 8), {.backend = backend});
    backend->answer_release(UnpinStatus::failed);
    registration.reset();
    set_release_failure_handler(previous);
    CHECK(overlaps(pages.bytes_at(8, 8)));
}

TEST_CASE("A registration waits for its uses before it unpins, because its memory may be freed next",
          "[own]") {
    const OwnPages pages(2);
    const auto backend = std::make_shared<ScriptedBackend>();
    const auto first = ManualToken::make(8101);
    const auto second = ManualToken::make(8102);
    {
        PinnedRegistration registration(pages.bytes_at(0, 8), {.backend = backend});
        PinnedRegistration other(pages.bytes_at(page_bytes(), 8), {.backend = backend});
        registration.record_use(first);
        other.record_use(second);
        std::jthread finisher([&] {
            std::this_thread::sleep_for(20ms);
            first->complete();
        });
        registration.reset();
        CHECK(first->is_complete());
        CHECK(backend->outstanding().size() == 1);
        finisher.join();
        finisher = std::jthread([&] {
            std::this_thread::sleep_for(20ms);
            second->complete();
        });
        other = PinnedRegistration();
        CHECK(second->is_complete());
    }
    CHECK(backend->outstanding().empty());
}

TEST_CASE("A page stays claimed until it is unlocked, so that a neighbour's lock is not undone with it", "[own]") {
    const OwnPages pages(1);
    const auto backend = std::make_shared<InterruptedBackend>();
    bool refused = false;
    backend->while_unregistering = [&] { refused = overlaps(pages.bytes_at(2000, 10)); };
    { const PinnedRegistration first(pages.bytes_at(0, 10), {.backend = backend}); }
    CHECK(refused);
    CHECK_FALSE(overlaps(pages.bytes_at(2000, 10)));
}

TEST_CASE("A page whose unlock failed stays claimed, and the kernel and the audit agree on it", "[own]") {
    const testing::ReleaseFailureLog failures;
    const OwnPages pages(1);
    const auto backend = std::make_shared<InterruptedBackend>();
    backend->answer = {UnpinStatus::failed, "munlock", 5};
    const AuditState before = AuditState::now();
    bool refused = false;
    backend->while_unregistering = [&] { refused = overlaps(pages.bytes_at(2000, 10)); };
    { const PinnedRegistration first(pages.bytes_at(0, 10), {.backend = backend}); }
    CHECK(refused);
    CHECK(overlaps(pages.bytes_at(2000, 10)));
    const AuditState after = AuditState::now();
    CHECK(after.counts.quarantined.locked_bytes == before.counts.quarantined.locked_bytes + page_bytes());
    CHECK(after.kernel_locked_bytes == before.kernel_locked_bytes + page_bytes());
}

}  // namespace pinwarden
