// SPDX-License-Identifier: Apache-2.0
// Blocks that change hands: between threads, between owners of different sizes, and around forks.
#include <pinwarden/audit/registry.hpp>
#include <pinwarden/backend/native_backend.hpp>
#include <pinwarden/core/bytes.hpp>
#include <pinwarden/own/pinned_buffer.hpp>
#include <pinwarden/pool/pinned_pool.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <catch2/catch_get_random_seed.hpp>
#include <catch2/catch_test_macros.hpp>
#include <unistd.h>

#include <support/audit_state.hpp>
#include <support/child_process.hpp>
#include <support/counting_backend.hpp>
#include <support/manual_token.hpp>
#include <support/release_failure_log.hpp>

namespace pinwarden::testing {

namespace {

using Words = PinnedBuffer<std::uint64_t>;

// Filled by one thread, checked by another.
struct Message {
    Words words;
    std::uint64_t content = 0;
};

class Mailbox {
public:
    void put(Message message) {
        const std::scoped_lock lock(mutex_);
        messages_.push_back(std::move(message));
    }
    [[nodiscard]] Message take() {
        const std::scoped_lock lock(mutex_);
        if (messages_.empty()) return {};
        Message message = std::move(messages_.front());
        messages_.pop_front();
        return message;
    }

private:
    std::mutex mutex_;
    std::deque<Message> messages_;
};

}  // namespace

TEST_CASE("Blocks that change hands between threads are whole, and every one is accounted for", "[stress]") {
    constexpr std::size_t rounds = 20'000;
    const AuditState before = AuditState::now();
    ReleaseFailureLog release_failures;
    const auto backing = std::make_shared<CountingBackend>(Catch::getSeed());
    std::atomic<std::size_t> torn{0};
    std::atomic<std::size_t> reused{0};
    {
        const auto pool = std::make_shared<PinnedPool>(backing, 40 * page_bytes());
        Mailbox mailbox;
        {
            std::vector<std::jthread> threads;
            for (unsigned number = 0; number < 6; ++number) {
                threads.emplace_back([&, number] {
                    std::mt19937_64 random(Catch::getSeed() + number);
                    std::shared_ptr<ManualToken> use;
                    for (std::size_t round = 0; round < rounds; ++round) {
                        try {
                            const std::size_t count = 1 + random() % 2000;  // one to four pages
                            Message message{Words(count, {.backend = pool, .label = "message"}), random()};
                            std::ranges::fill(message.words.span(), message.content);
                            if (round % 32 == 0) {  // goes in flight when it is dropped
                                if (use) use->complete();
                                use = ManualToken::make((std::uint64_t{1} << 42U) + number);
                                message.words.record_use(use);
                            }
                            mailbox.put(std::move(message));
                        } catch (const PinError&) {
                        }
                        Message received = mailbox.take();
                        const auto is_whole = [&](std::uint64_t word) { return word == received.content; };
                        if (!std::ranges::all_of(received.words.span(), is_whole)) ++torn;
                        if (round % 1024 == 0) pool->trim(random() % (40 * page_bytes()));
                    }
                    if (use) use->complete();
                });
            }
        }
        reused = pool->statistics().reused;
        CHECK(pool->statistics().cached_bytes <= 40 * page_bytes());
    }
    const AuditState after = AuditState::now();
    CHECK(torn == 0);
    CHECK(reused > rounds);
    CHECK(backing->acquired() == backing->done() + backing->unloading() + backing->failed());
    CHECK(after.counts.live == before.counts.live);
    CHECK(after.counts.cached == before.counts.cached);
    CHECK(after.counts.in_flight == before.counts.in_flight);
    CHECK(after.counts.quarantined.pins == before.counts.quarantined.pins + backing->failed());
    CHECK(after.counts.left_to_system.pins == before.counts.left_to_system.pins + backing->unloading());
}

TEST_CASE("100 forks while threads use a pool leave no child hanging, and its cached blocks are the parent's",
          "[stress][forks_with_threads]") {
    const AuditState before = AuditState::now();
    {
        const auto pool = std::make_shared<PinnedPool>(native_backend(), 64 * page_bytes());
        std::atomic<bool> stop{false};
        std::vector<std::jthread> threads;
        for (int number = 0; number < 3; ++number) {
            threads.emplace_back([&, number] {
                for (std::size_t round = 0; !stop; ++round) {
                    const Words one(1 + (round % 3) * 600, {.backend = pool});
                    const Words other(1, {.backend = pool});
                    if (round % 100 == 0 && number == 0) pool->trim();
                }
            });
        }
        const auto life_of_a_child = [&pool]() -> std::string {
            ::alarm(30);
            if (AuditState::now().counts != audit::Counts{}) return "the child's registry is not empty";
            if (pool->trim() != 0) return "the child unpinned its parent's blocks";
            { const Words own(1, {.backend = pool}); }
            { const Words again(1, {.backend = pool}); }
            if (pool->statistics().reused != 1) return "the child's own block was not reused";
            pool->trim();
            return AuditState::now().kernel_locked_bytes == 0 ? "fine" : "the child left a page locked";
        };
        std::vector<std::string> wrong;
        for (int number = 0; number < 100; ++number) {
            const ChildResult child = run_in_child(life_of_a_child);
            if (child.answer != "fine") wrong.push_back(child.answer + child.errors);
        }
        stop = true;
        CHECK(wrong == std::vector<std::string>{});
    }
    CHECK(AuditState::now() == before);
}

}  // namespace pinwarden::testing
