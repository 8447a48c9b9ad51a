// SPDX-License-Identifier: Apache-2.0
// Random programs on many threads. `--rng-seed` repeats a run's choices, though not how its threads meet; the
// environment variable PINWARDEN_STRESS_FACTOR makes the runs that many times longer.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch_get_random_seed.hpp>
#include <catch2/catch_test_macros.hpp>

#include <stress/workload.hpp>
#include <support/faulty_accelerator.hpp>
#include <support/release_failure_log.hpp>

namespace pinwarden::testing {

using namespace std::chrono_literals;

namespace {

constexpr std::uint32_t thread_count = 4;

std::size_t scaled(std::size_t steps) {
    const char* const factor = std::getenv("PINWARDEN_STRESS_FACTOR");
    return factor == nullptr ? steps : steps * std::max(1UL, std::strtoul(factor, nullptr, 10));
}

// Streams that dropped themselves finish in the background.
bool all_given_back(const Accelerator& accelerator) {
    const auto deadline = std::chrono::steady_clock::now() + 20s;
    while (accelerator.memory().in_use != 0 && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::sleep_for(1ms);
    }
    return accelerator.memory().in_use == 0 && accelerator.memory().allocations == 0;
}

// One random program per thread; `disturb` is called again and again meanwhile.
template <typename Disturb>
std::vector<std::string> run_workloads(const AcceleratorPtr& accelerator, std::vector<PinBackendPtr> backends,
                                       const audit::ScopeRef& scope, std::size_t steps, Disturb disturb) {
    Exchange exchange(accelerator, std::move(backends), scope);
    {
        std::atomic<std::uint32_t> running = thread_count;
        std::vector<std::jthread> threads;
        for (std::uint32_t t = 0; t < thread_count; ++t) {
            threads.emplace_back([&exchange, &running, steps, seed = Catch::getSeed() * thread_count + t] {
                Workload(exchange, seed).run(steps);
                --running;
            });
        }
        while (running > 0) disturb();
    }
    while (exchange.take()) {
    }
    if (!all_given_back(*accelerator)) exchange.fail("device memory is still in use");
    return exchange.failures();
}

}  // namespace

TEST_CASE("Data arrive whole and no pin is left, whatever handles do while copies run", "[stress]") {
    ReleaseFailureLog release_failures;
    const std::size_t locked_before = kernel_locked_bytes();
    const auto accelerator = make_cpu_accelerator();
    const auto scripted = std::make_shared<ScriptedBackend>();
    audit::Scope scope("stress");
    const auto failures = run_workloads(accelerator, {native_backend(), scripted}, scope, scaled(1500),
                                        [] { std::this_thread::sleep_for(1ms); });
    CHECK(failures == std::vector<std::string>{});
    CHECK(scope.close(20s).is_clean());
    CHECK(scripted->outstanding().empty());
    CHECK(release_failures.take().empty());
    CHECK(audit::Registry::instance().counts() == audit::Counts{});
    CHECK(audit::Registry::instance().snapshot().empty());
    CHECK(kernel_locked_bytes() == locked_before);
}

TEST_CASE("The same holds while calls, pins and launched work fail", "[stress]") {
    ReleaseFailureLog release_failures;
    const std::size_t locked_before = kernel_locked_bytes();
    const auto accelerator = std::make_shared<FaultyAccelerator>();
    const auto scripted = std::make_shared<ScriptedBackend>(native_backend());
    audit::Scope scope("stress with faults");
    std::minstd_rand random(Catch::getSeed());
    const auto failures = run_workloads(accelerator, {scripted}, scope, scaled(1500), [&] {
        accelerator->fail_call(1 + random() % 20);
        accelerator->fail_work(1 + random() % 3);
        scripted->fail_acquire(1 + random() % 5);
        std::this_thread::sleep_for(200us);
    });
    CHECK(failures == std::vector<std::string>{});
    CHECK(scope.close(20s).is_clean());
    CHECK(scripted->outstanding().empty());
    CHECK(accelerator->call_count() > scaled(1500));
    CHECK(audit::Registry::instance().counts() == audit::Counts{});
    CHECK(kernel_locked_bytes() == locked_before);
}

TEST_CASE("Scopes end clean while others pin, drop and read the audit", "[stress]") {
    const std::size_t rounds = scaled(150);
    std::atomic<std::size_t> unclean = 0;
    std::atomic<std::uint32_t> running = thread_count;
    {
        std::vector<std::jthread> threads;
        for (std::uint32_t t = 0; t < thread_count; ++t) {
            threads.emplace_back([&, t] {
                const auto accelerator = make_cpu_accelerator();
                for (std::size_t round = 0; round < rounds; ++round) {
                    const auto stream = accelerator->create_stream("engine");
                    audit::Scope scope("engine " + std::to_string(t));
                    {
                        DeviceBuffer<std::uint32_t> device(2000, stream);
                        stream->launch([] { std::this_thread::sleep_for(50us); });
                        for (int state = 0; state < 4; ++state) {
                            PinnedBuffer<std::uint32_t> host(device.size(),
                                                             {.scope = scope, .label = "state"});
                            copy(device, host, *stream);
                        }
                        const auto report = scope.report();
                        if (report.counts.live.pins != 0 || report.counts.in_flight.pins > 4) ++unclean;
                    }
                    const auto report = scope.close(20s);
                    if (!report.is_clean() || !report.records.empty()) ++unclean;
                }
                --running;
            });
        }
        while (running > 0) {
            const auto report = audit::LeakReport::of_process();
            if (report.counts.quarantined.pins != 0) ++unclean;
            static_cast<void>(to_text(report));
        }
    }
    CHECK(unclean == 0);
    CHECK(audit::Registry::instance().counts() == audit::Counts{});
}

}  // namespace pinwarden::testing
