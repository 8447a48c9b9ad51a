// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/superoffload/super_offload.hpp>

#include <chrono>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <pinwarden/audit/registry.hpp>
#include <pinwarden/audit/scope.hpp>
#include <pinwarden/backend/scripted_backend.hpp>
#include <pinwarden/core/error.hpp>
#include <pinwarden/own/pinned_scratch.hpp>

#include <support/engine_states.hpp>
#include <support/gate.hpp>
#include <support/host_step.hpp>

using namespace pinwarden;
using namespace pinwarden::testing;
using zero::LowPrecision;
using zero::SpeculationCounts;
using zero::SuperOffload;

namespace {

constexpr std::size_t elements = 40'000;
constexpr std::size_t sub_group = 5'000;

const zero::SuperOffloadOptions two_workers{.workers = 2, .queue_capacity = 2};

// Lets only the first `count` sub-groups through to their step.
zero::SuperOffloadOptions stopping_at(Gate& gate, std::size_t count) {
    return {.workers = 1, .queue_capacity = 64, .before_sub_group = [&gate, count](std::size_t number) {
                if (number >= count) gate.pass();
            }};
}

}  // namespace

TEST_CASE("A step that was speculated rightly has the bits of a synchronous one") {
    const auto format = GENERATE(LowPrecision::bf16, LowPrecision::fp16);
    for (const std::size_t workers : {1U, 3U}) {
        for (const std::size_t capacity : {1U, 4U}) {
            CAPTURE(workers, capacity);
            HostStep step(elements, sub_group, 11);
            SuperOffload super(step.settings(), {.workers = workers, .queue_capacity = capacity});
            REQUIRE(super.starts_early());
            for (std::int64_t number = 1; number <= 5; ++number) {
                step.make_gradients(format);
                const StepWords words{.number = number, .factor = 0.125F, .format = format};
                const auto expected = step.stepped(words);
                step.speculate(super, words);
                super.finish(0.125F);
                REQUIRE(step.arrays() == expected);
            }
            REQUIRE(super.counts() == SpeculationCounts{.kept = 5});
        }
    }
}

TEST_CASE("A step that was speculated wrongly is redone with the bits of a synchronous one") {
    HostStep step(elements, sub_group, 12);
    SuperOffload super(step.settings(), two_workers);
    for (std::int64_t number = 1; number <= 5; ++number) {
        step.make_gradients(LowPrecision::bf16);
        const auto expected = step.stepped({.number = number, .factor = 0.3F});
        step.speculate(super, {.number = number});
        super.finish(0.3F);
        REQUIRE(step.arrays() == expected);
    }
    REQUIRE(super.counts() == SpeculationCounts{.redone = 5});
}

TEST_CASE("A rollback gives random states back bit for bit, whatever bits they are") {
    for (std::uint32_t seed = 0; seed < 40; ++seed) {
        CAPTURE(seed);
        HostStep step(elements / 4, sub_group / 4, 100 + seed);
        step.fill_with_bits();
        const auto before = step.arrays();
        SuperOffload super(step.settings(), two_workers);
        step.speculate(super, {.number = 1 + seed, .factor = 0.5F});
        super.roll_back();
        REQUIRE(step.arrays() == before);
        super.roll_back();
        REQUIRE(step.arrays() == before);
        REQUIRE(super.counts() == SpeculationCounts{.rolled_back = 1});
    }
}

TEST_CASE("A rollback at any moment of a step gives everything back") {
    for (const std::size_t finished : {0U, 1U, 4U, 7U}) {
        CAPTURE(finished);
        HostStep step(elements, sub_group, 14);
        const auto before = step.arrays();
        Gate gate;
        {
            SuperOffload super(step.settings(), stopping_at(gate, finished));
            step.speculate(super);
            REQUIRE(gate.wait_for_arrivals(1));
            if (finished > 1) REQUIRE(step.arrays() != before);
            super.roll_back();
            REQUIRE(step.arrays() == before);
            gate.open();
            REQUIRE(gate.wait_for_passes(1));
        }
        REQUIRE(step.arrays() == before);
    }
}

TEST_CASE("A step is rolled back by the beginning of the next one, and by the end of SuperOffload") {
    HostStep step(elements, sub_group, 15);
    const auto before = step.arrays();
    Gate gate;
    {
        SuperOffload super(step.settings(), stopping_at(gate, 5));
        step.speculate(super);
        REQUIRE(gate.wait_for_arrivals(1));
        REQUIRE(step.arrays() != before);
        gate.open();
        super.start({});
        REQUIRE(step.arrays() == before);
        super.finish(1.0F);
        step.speculate(super);
    }
    REQUIRE(step.arrays() == before);
}

TEST_CASE("Steps that were rolled back between others leave no trace in them") {
    HostStep plain(elements, sub_group, 16);
    HostStep speculated(elements, sub_group, 16);
    SuperOffload super(speculated.settings(), two_workers);
    for (std::int64_t number = 1; number <= 20; ++number) {
        const StepWords words{.number = number, .factor = 0.25F, .format = LowPrecision::fp16};
        plain.make_gradients(words.format);
        speculated.make_gradients(words.format);
        plain.arrays() = plain.stepped(words);
        for (std::int64_t attempt = 0; attempt < number % 3; ++attempt) {
            speculated.speculate(super, {.number = number + attempt, .factor = 3.0F, .format = words.format});
            super.roll_back();
        }
        speculated.speculate(
            super, {.number = number, .factor = number % 2 == 0 ? 0.25F : 2.0F, .format = words.format});
        super.finish(0.25F);
        REQUIRE(speculated.arrays() == plain.arrays());
    }
    REQUIRE(super.counts() == SpeculationCounts{.kept = 10, .redone = 10, .rolled_back = 21});
}

TEST_CASE("Gradients larger than the scratch are refused at the caller, and nothing has changed") {
    HostStep step(elements, sub_group, 17);
    const auto before = step.arrays();
    for (const std::size_t room : {std::size_t{0}, std::size_t{1}, elements - 1}) {
        auto settings = step.settings();
        settings.gradient_bytes = room * 2;
        SuperOffload too_small(settings, {.workers = 1});
        REQUIRE_THROWS_AS(step.speculate(too_small), CapacityError);
        REQUIRE(step.arrays() == before);
    }
}

TEST_CASE("The scratch is pinned or pageable as it is told, and its pin is the only one") {
    const auto pinning = GENERATE(Pinning::pinned, Pinning::pageable);
    const auto backend = std::make_shared<ScriptedBackend>();
    audit::Scope scope("super");
    HostStep step(elements, sub_group, 18);
    {
        SuperOffload super(step.settings({.pinning = pinning, .backend = backend, .scope = scope}),
                           two_workers);
        REQUIRE(super.is_pinned() == (pinning == Pinning::pinned));
        REQUIRE(super.capacity_bytes() == elements * 2);
        const auto records = scope.report().records;
        REQUIRE(records.size() == (pinning == Pinning::pinned ? 1 : 0));
        for (const auto& record : records) {
            REQUIRE(record.bytes == elements * 2);
            REQUIRE(record.label == "super_offload_gradients");
        }
        step.speculate(super);
        super.finish(0.5F);
        REQUIRE(backend->acquire_count() == records.size());
    }
    REQUIRE(backend->outstanding().empty());
    REQUIRE(scope.close(std::chrono::seconds(10)).is_clean());
}

TEST_CASE("A scratch that is refused leaves nothing behind") {
    const auto backend = std::make_shared<ScriptedBackend>();
    backend->fail_acquire(1);
    const HostStep step(elements, sub_group, 18);
    REQUIRE_THROWS_AS(SuperOffload(step.settings({.backend = backend}), {}), PinError);
    REQUIRE(backend->outstanding().empty());
}

TEST_CASE("Workers run on the cores that they were given, and the caller keeps its own") {
    const auto before = zero::CoreSet::of_this_thread();
    std::mutex mutex;
    std::vector<zero::CoreSet> seen;
    std::set<std::thread::id> threads;
    HostStep step(elements, sub_group, 19);
    SuperOffload super(step.settings(), {.workers = 2, .before_sub_group = [&](std::size_t) {
                                             const std::lock_guard lock(mutex);
                                             seen.push_back(zero::CoreSet::of_this_thread());
                                             threads.insert(std::this_thread::get_id());
                                         }});
    REQUIRE(zero::CoreSet::of_this_thread() == before);
    step.speculate(super);
    super.finish(1.0F);
    REQUIRE_FALSE(seen.empty());
    for (const auto& cores : seen) REQUIRE(cores == super.cores().adam);
    REQUIRE_FALSE(threads.contains(std::this_thread::get_id()));
    REQUIRE(super.cores().adam.size() + super.cores().rest.size() == before.size());
}

TEST_CASE("The calling thread leaves the workers' cores alone for as long as it is asked to") {
    const auto before = zero::CoreSet::of_this_thread();
    const HostStep step(elements, sub_group, 19);
    SuperOffload super(step.settings(), two_workers);
    auto off = super.yield_cores();
    REQUIRE(zero::CoreSet::of_this_thread() == (super.cores().rest.empty() ? before : super.cores().rest));
    off.reset();
    REQUIRE(zero::CoreSet::of_this_thread() == before);
}

TEST_CASE("Without a number of workers there is one on each of their cores") {
    const HostStep step(elements, sub_group, 19);
    for (const double share : {0.01, 0.5, 1.0}) {
        auto settings = step.settings();
        settings.offload.cpuadam_cores_perc = share;
        const SuperOffload super(settings, {});
        REQUIRE(super.cores() == zero::split_cores(zero::CoreSet::of_this_thread(), share));
    }
}

TEST_CASE("Each sub-group with elements is announced once, by its number within the step") {
    std::mutex mutex;
    std::set<std::size_t> numbers;
    std::size_t calls = 0;
    HostStep step(elements, sub_group, 20);
    SuperOffload super(step.settings(), {.workers = 3, .before_sub_group = [&](std::size_t number) {
                                             const std::lock_guard lock(mutex);
                                             numbers.insert(number);
                                             ++calls;
                                         }});
    step.speculate(super);
    super.finish(1.0F);
    REQUIRE(calls == numbers.size());
    REQUIRE(calls > 2);
    REQUIRE(*numbers.rbegin() < step.sub_groups());
}

TEST_CASE("A step of no sub-groups, and one of none with elements, is a step") {
    HostStep step(1, 1, 1);
    SuperOffload super(step.settings(), {.workers = 1});
    super.start({});
    super.finish(1.0F);
    super.start({.sub_groups = {{}, {}}});
    super.gradients_ready(1);
    super.gradients_ready(0);
    super.finish(0.5F);
    REQUIRE(super.counts() == SpeculationCounts{.kept = 1, .redone = 1});
}

TEST_CASE("Options that cannot work are refused") {
    const HostStep step(elements, sub_group, 1);
    auto settings = step.settings();
    REQUIRE_THROWS_AS(SuperOffload(settings, {.queue_capacity = 0}), SizeError);
    REQUIRE_THROWS_AS(SuperOffload(settings, {.timeout = std::chrono::nanoseconds(0)}), SizeError);
    // For ever is a valid time-out.
    const SuperOffload patient(settings, {.timeout = std::chrono::nanoseconds::max()});
    for (const double share : {0.0, 1.5}) {
        settings.offload.cpuadam_cores_perc = share;
        REQUIRE_THROWS_AS(SuperOffload(settings, {}), SizeError);
    }
}
