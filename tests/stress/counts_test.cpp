// SPDX-License-Identifier: Apache-2.0
// A program of its own: what it leaves in quarantine stays there until the process ends.
#include <pinwarden/audit/registry.hpp>
#include <pinwarden/audit/scope.hpp>
#include <pinwarden/core/error.hpp>
#include <pinwarden/own/pinned_buffer.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch_get_random_seed.hpp>
#include <catch2/catch_test_macros.hpp>

#include <support/counting_backend.hpp>
#include <support/manual_token.hpp>
#include <support/release_failure_log.hpp>

namespace pinwarden::testing {

TEST_CASE("Trap 7: after 200,000 pins and unpins from 8 threads, with failures, every count is exact", "[stress]") {
    constexpr std::size_t thread_count = 8;
    constexpr std::size_t pins_per_thread = 25'000;
    constexpr std::size_t scope_count = 5;
    ReleaseFailureLog release_failures;
    const auto backend = std::make_shared<CountingBackend>(Catch::getSeed());
    std::deque<audit::Scope> scopes;
    for (std::size_t number = 0; number < scope_count; ++number) scopes.emplace_back(std::to_string(number));
    const auto& registry = audit::Registry::instance();
    const audit::Counts before = registry.counts();
    std::atomic<std::size_t> refusals{0};
    std::atomic<std::size_t> lost{0};
    {
        std::vector<std::jthread> threads;
        for (std::size_t thread = 0; thread < thread_count; ++thread) {
            threads.emplace_back([&, thread] {
                std::mt19937_64 random(Catch::getSeed() + thread);
                std::array<PinnedBuffer<std::byte>, 16> held;
                std::shared_ptr<ManualToken> use;
                for (std::size_t pin = 0; pin < pins_per_thread; ++pin) {
                    PinnedBuffer<std::byte>& place = held[random() % held.size()];
                    const audit::ScopeRef scope = scopes[random() % scope_count];
                    try {
                        place = PinnedBuffer<std::byte>(64 + random() % 512, {.backend = backend, .scope = scope});
                    } catch (const PinError&) {
                        ++refusals;
                        continue;
                    }
                    if (pin % 64 == 0) {
                        const auto record = registry.find(place.data());
                        if (!record || record->scope != scope.name() || record->bytes != place.size()) ++lost;
                    }
                    if (pin % 16 == 0) {  // goes in flight with its handle
                        if (use) use->complete();
                        use = ManualToken::make((std::uint64_t{1} << 40U) + thread);
                        place.record_use(use);
                    }
                }
                if (use) use->complete();
            });
        }
    }
    for (audit::Scope& scope : scopes) CHECK(scope.close(std::chrono::seconds(20)).is_clean());
    const audit::Counts after = registry.counts();
    CHECK(lost == 0);
    CHECK(refusals == backend->refused());
    CHECK(backend->acquired() + backend->refused() == thread_count * pins_per_thread);
    CHECK(backend->acquired() == backend->done() + backend->unloading() + backend->failed());
    CHECK(backend->failed() > 0);
    CHECK(backend->unloading() > 0);
    CHECK(after.live == before.live);
    CHECK(after.in_flight == before.in_flight);
    CHECK(after.quarantined.pins == before.quarantined.pins + backend->failed());
    CHECK(after.quarantined.bytes == before.quarantined.bytes + backend->failed_bytes());
    CHECK(after.left_to_system.pins == before.left_to_system.pins + backend->unloading());
    CHECK(after.left_to_system.bytes == before.left_to_system.bytes + backend->unloading_bytes());
    CHECK(audit::count(registry.snapshot()).quarantined == after.quarantined);
}

}  // namespace pinwarden::testing
