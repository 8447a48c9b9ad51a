// SPDX-License-Identifier: Apache-2.0
// Forks at any moment: a mutex that the child can never lock would hang it, and its alarm would end it.
#include <pinwarden/accelerator/cpu_accelerator.hpp>
#include <pinwarden/accelerator/device_buffer.hpp>
#include <pinwarden/audit/registry.hpp>
#include <pinwarden/backend/native_backend.hpp>
#include <pinwarden/core/bytes.hpp>
#include <pinwarden/own/pinned_buffer.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <unistd.h>

#include <support/audit_state.hpp>
#include <support/child_process.hpp>
#include <support/manual_token.hpp>

namespace pinwarden::testing {

namespace {

using Buffer = PinnedBuffer<std::byte>;

// What a child says that finds itself without pins, pins and unpins by itself, and drops the parent's handles.
std::string life_of_a_child(Buffer& live) {
    ::alarm(30);
    const AuditState at_first = AuditState::now();
    if (at_first.counts != audit::Counts{}) return "the child's registry is not empty";
    if (at_first.kernel_locked_bytes != 0) return "the child has locked pages";
    {
        const Buffer own(page_bytes(), {.backend = native_backend()});
        if (AuditState::now().kernel_locked_bytes != page_bytes()) return "the child's pin is not locked";
    }
    live.reset();
    return AuditState::now() == at_first ? "fine" : "the child's unpin left something";
}

}  // namespace

TEST_CASE("Trap 13: 200 forks while threads pin and unpin leave no child hanging and no pin behind",
          "[stress][forks_with_threads]") {
    const AuditState before = AuditState::now();
    {
        Buffer live(page_bytes(), {.backend = native_backend(), .label = "the parent's"});
        const auto use = ManualToken::make((std::uint64_t{1} << 41U));
        Buffer dropped(page_bytes(), {.backend = native_backend(), .label = "in flight"});
        dropped.record_use(use);
        dropped.reset();
        const AuditState held = AuditState::now();
        CHECK(held.counts.in_flight.pins == 1);
        {
            std::atomic<bool> stop{false};
            std::vector<std::jthread> threads;
            for (int number = 0; number < 4; ++number) {
                threads.emplace_back([&stop] {
                    while (!stop) {
                        const Buffer buffer(10, {.backend = native_backend()});
                        static_cast<void>(audit::Registry::instance().find(buffer.data()));
                        static_cast<void>(audit::Registry::instance().snapshot());
                    }
                });
            }
            std::vector<std::string> wrong;
            for (int number = 0; number < 200; ++number) {
                const ChildResult child = run_in_child([&live] { return life_of_a_child(live); });
                if (child.answer != "fine") wrong.push_back(child.answer + child.errors);
            }
            stop = true;
            CHECK(wrong == std::vector<std::string>{});
        }
        CHECK(AuditState::now() == held);
        CHECK(live.is_pinned());
        use->complete();
    }
    CHECK(AuditState::now() == before);
}

TEST_CASE("A child may ask an accelerator for its memory that other threads were using, and drop its streams",
          "[stress]") {
    auto accelerator = make_cpu_accelerator();
    auto stream = accelerator->create_stream("busy");
    std::vector<std::string> wrong;
    {
        std::atomic<bool> stop{false};
        const std::jthread user([&stop, held = accelerator] {
            const StreamPtr own = held->create_stream("user");
            while (!stop) {
                const DeviceBuffer<std::byte> buffer(64, own);
                static_cast<void>(held->memory());
            }
        });
        for (int number = 0; number < 60; ++number) {
            const ChildResult child = run_in_child([&]() -> std::string {
                ::alarm(30);
                if (accelerator->memory().in_use != 0) return "the parent's memory is counted";
                stream.reset();
                accelerator.reset();
                return "fine";
            });
            if (child.answer != "fine") wrong.push_back(child.answer + child.errors);
        }
        stop = true;
    }
    CHECK(wrong == std::vector<std::string>{});
}

}  // namespace pinwarden::testing
