// SPDX-License-Identifier: Apache-2.0
/// @file
/// Every operation of a handle, with each of its allocations and each of its acquisitions failing once.
#include <algorithm>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include <pinwarden/audit/registry.hpp>
#include <pinwarden/audit/scope.hpp>
#include <pinwarden/backend/native_backend.hpp>
#include <pinwarden/backend/scripted_backend.hpp>
#include <pinwarden/core/bytes.hpp>
#include <pinwarden/core/error.hpp>
#include <pinwarden/own/pinned_buffer.hpp>
#include <pinwarden/own/pinned_registration.hpp>
#include <pinwarden/own/pinned_scratch.hpp>

#include <support/audit_state.hpp>
#include <support/failing_new.hpp>
#include <support/manual_token.hpp>
#include <support/own_pages.hpp>
#include <support/release_failure_log.hpp>

namespace pinwarden::testing {

namespace {

using Buffer = PinnedBuffer<int>;
using Scratch = PinnedScratch<int>;

// Longer than any string keeps in itself, so that copying it allocates.
const std::string long_label(200, 'x');

// An operation and the world it works on: really pinned memory behind a script.
struct Operation {
    std::string name;
    std::size_t acquisitions;  // that it makes when nothing fails
    std::function<void()> run;
};

class World {
public:
    World()
        : target(100, options()), scratch(100, options()), registration(pages.bytes_at(0, 64), options()) {
        std::ranges::fill(target.span(), 41);
        std::ranges::fill(scratch.acquire(100), 42);
        address = target.data();
    }

    [[nodiscard]] PinOptions options(Pinning pinning = Pinning::pinned) const {
        return {.pinning = pinning, .backend = backend, .scope = scope, .label = long_label};
    }

    [[nodiscard]] std::vector<Operation> operations() {
        return {
            {"make a buffer", 1, [this] { Buffer(5000, options()).reset(); }},
            {"make a scratch", 1, [this] { Scratch(5000, options()).reset(); }},
            {"make a registration", 1,
             [this] { PinnedRegistration(pages.bytes_at(page_bytes(), 5000), options()).reset(); }},
            {"copy a span", 1, [this] { Buffer::copy_of(std::as_const(target).span(), options()).reset(); }},
            {"prefer a pin", 1, [this] { Buffer(5000, options(Pinning::prefer_pinned)).reset(); }},
            {"take pageable memory", 0, [this] { Buffer(5000, options(Pinning::pageable)).reset(); }},
            {"replace a buffer by itself and two others", 2,
             [this] {
                 Buffer first(10, options());
                 Buffer second(20, options());
                 second = std::move(first);
                 second.swap(target);
                 second.swap(target);
             }},
            {"register and be refused for an overlap", 0,
             [this] {
                 try {
                     const PinnedRegistration twice(pages.bytes_at(64, 64), options());
                 } catch (const OverlapError&) {
                 }
             }},
            {"pin in a scope of its own", 1,
             [this] {
                 audit::Scope own(long_label);
                 { const Buffer buffer(10, {.backend = backend, .scope = own, .label = long_label}); }
                 static_cast<void>(own.close(std::chrono::nanoseconds(0)));
             }},
            {"use on three streams", 1,
             [this] {
                 Buffer buffer(10, options());
                 for (const auto& use : uses) buffer.record_use(use);
             }},
        };
    }

    void check_unchanged() {
        CHECK(target.data() == address);
        CHECK(target.size() == 100);
        CHECK(target.is_pinned());
        CHECK(std::ranges::count(target.span(), 41) == 100);
        CHECK(scratch.is_pinned());
        CHECK(std::ranges::count(scratch.acquire(100), 42) == 100);
        CHECK(registration.is_pinned());
        CHECK(backend->outstanding().size() == 3);
    }

    OwnPages pages{4};
    audit::Scope scope{"sweep"};
    std::shared_ptr<ScriptedBackend> backend = std::make_shared<ScriptedBackend>(native_backend());
    // Complete from the start: a use that cannot be remembered is waited for.
    std::vector<std::shared_ptr<ManualToken>> uses = completed_uses();
    Buffer target;
    Scratch scratch;
    PinnedRegistration registration;
    const int* address = nullptr;

private:
    static std::vector<std::shared_ptr<ManualToken>> completed_uses() {
        std::vector<std::shared_ptr<ManualToken>> made;
        for (std::uint64_t queue = 500; queue < 503; ++queue) {
            made.push_back(ManualToken::make(queue));
            made.back()->complete();
        }
        return made;
    }
};

std::size_t failing_allocations(World& world, const Operation& operation) {
    INFO(operation.name);
    const AuditState before = AuditState::now();
    const auto run = [&operation] {
        try {
            operation.run();
        } catch (const PinError&) {  // pageable memory that was refused
            throw std::bad_alloc();
        }
    };
    const std::size_t failures = for_each_failing_new(run, [&] {
        CHECK(AuditState::now() == before);
        world.check_unchanged();
    });
    CHECK(AuditState::now() == before);
    world.check_unchanged();
    return failures;
}

}  // namespace

TEST_CASE("Trap 16: whichever allocation of an operation fails, nothing is pinned and nothing is changed", "[fault]") {
    World world;
    std::size_t failures = 0;
    for (const Operation& operation : world.operations()) failures += failing_allocations(world, operation);
    CHECK(failures >= 10);
}

TEST_CASE("The same holds on a thread that has never pinned anything", "[fault]") {
    World world;
    for (const Operation& operation : world.operations()) {
        // The thread's first pin makes room for its records; that may fail as well.
        std::size_t failures = 0;
        std::thread([&] { failures = failing_allocations(world, operation); }).join();
        CHECK((failures > 0 || operation.acquisitions == 0));
    }
}

TEST_CASE("The same holds when there is no record left that was used before", "[fault]") {
    World world;
    std::vector<Buffer> held;
    held.reserve(200);
    bool made_room = false;
    // Records come in blocks; among so many new pins at least one needs a new block.
    while (held.size() < held.capacity() && !made_room) {
        const AuditState before = AuditState::now();
        const FailingNew failing(1);
        try {
            held.emplace_back(1, PinOptions{.backend = native_backend()});
        } catch (const std::bad_alloc&) {
            made_room = true;
        }
        if (made_room) CHECK(AuditState::now() == before);
    }
    CHECK(made_room);
    world.check_unchanged();
}

TEST_CASE("Trap 16: whichever acquisition of an operation is refused, nothing is pinned and nothing is changed",
          "[fault]") {
    World world;
    for (const Operation& operation : world.operations()) {
        INFO(operation.name);
        const AuditState before = AuditState::now();
        const std::size_t start = world.backend->acquire_count();
        operation.run();
        CHECK(world.backend->acquire_count() == start + operation.acquisitions);
        for (std::size_t nth = 1; nth <= operation.acquisitions; ++nth) {
            world.backend->fail_acquire(nth);
            if (operation.name == "prefer a pin") {
                CHECK_NOTHROW(operation.run());
            } else {
                CHECK_THROWS_AS(operation.run(), PinError);
            }
            world.backend->fail_acquire(0);
            CHECK(AuditState::now() == before);
            world.check_unchanged();
        }
    }
}

TEST_CASE("Both at once: a preferred pin is refused and its pageable memory too", "[fault]") {
    World world;
    const AuditState before = AuditState::now();
    const audit::Tally fallbacks = audit::Registry::instance().fallbacks();
    std::size_t refused = 0;
    std::size_t failures = 0;
    for (std::size_t nth = 1;; ++nth) {
        world.backend->fail_acquire(1);
        bool failed = false;
        {
            const FailingNew failing(nth);
            try {
                Buffer(5000, world.options(Pinning::prefer_pinned)).reset();
            } catch (const std::bad_alloc&) {
                ++refused;
            } catch (const PinError&) {
                ++refused;
            }
            failed = failing.failed();
        }
        world.backend->fail_acquire(0);
        CHECK(AuditState::now() == before);
        world.check_unchanged();
        if (!failed) break;
        ++failures;
    }
    CHECK(refused > 0);
    CHECK(refused <= failures);
    CHECK(audit::Registry::instance().fallbacks().pins == fallbacks.pins + failures + 1 - refused);
}

TEST_CASE("A release needs no memory, whatever it is answered", "[fault]") {
    ReleaseFailureLog log;
    const auto use = ManualToken::make(600);
    for (const UnpinStatus answer : {UnpinStatus::done, UnpinStatus::unloading, UnpinStatus::failed}) {
        for (std::size_t nth = 1; nth <= 12; ++nth) {
            const auto backend = std::make_shared<ScriptedBackend>();
            const audit::Counts before = audit::Registry::instance().counts();
            Buffer buffer(10, {.backend = backend, .label = "released"});
            backend->answer_release(answer);
            {
                const FailingNew failing(nth);
                buffer.reset();
            }
            const audit::Counts after = audit::Registry::instance().counts();
            CHECK(after.live == before.live);
            CHECK(after.quarantined.pins ==
                  before.quarantined.pins + (answer == UnpinStatus::failed ? 1 : 0));
            CHECK(backend->outstanding().empty());
            CHECK(log.take().size() == (answer == UnpinStatus::failed ? 1U : 0U));
        }
    }
}

TEST_CASE("Going in flight and coming back needs no memory", "[fault]") {
    const AuditState before = AuditState::now();
    const auto backend = std::make_shared<ScriptedBackend>(native_backend());
    const auto use = ManualToken::make(601);
    Buffer buffer(10, {.backend = backend});
    buffer.record_use(use);
    const std::size_t allocations = allocations_of_this_thread();
    buffer.reset();
    const bool went = audit::Registry::instance().counts().in_flight.pins == before.counts.in_flight.pins + 1;
    use->complete();
    audit::Registry::instance().collect();
    CHECK(allocations_of_this_thread() == allocations);
    CHECK(went);
    CHECK(AuditState::now() == before);
}

}  // namespace pinwarden::testing
