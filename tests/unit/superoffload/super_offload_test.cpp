// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/superoffload/super_offload.hpp>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>
#include <string>
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
using zero::StepOutcome;
using zero::StepTerms;
using zero::SuperOffload;

namespace {

constexpr std::size_t elements = 40'000;
constexpr std::size_t sub_group = 5'000;

const PinOptions pageable{.pinning = Pinning::pageable};

SuperOffload make_super(zero::SuperOffloadOptions options = {.workers = 2, .queue_capacity = 2}) {
    return SuperOffload(elements, 0.8, std::move(options), pageable);
}

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
            SuperOffload super = make_super({.workers = workers, .queue_capacity = capacity});
            for (std::int64_t number = 1; number <= 5; ++number) {
                step.make_gradients(format);
                const StepTerms terms{.number = number, .gradient_factor = 0.125F, .format = format};
                const auto expected = step.stepped(terms);
                super.begin(terms);
                REQUIRE(super.is_pending());
                step.hand_over(super);
                REQUIRE(super.validate(0.125F) == StepOutcome::kept);
                REQUIRE_FALSE(super.is_pending());
                REQUIRE(step.arrays() == expected);
            }
        }
    }
}

TEST_CASE(
    "A step that was speculated wrongly is redone with the right factor, with the bits of a synchronous "
    "one") {
    HostStep step(elements, sub_group, 12);
    SuperOffload super = make_super();
    for (std::int64_t number = 1; number <= 5; ++number) {
        step.make_gradients(LowPrecision::bf16);
        StepTerms terms{.number = number, .gradient_factor = 1.0F};
        super.begin(terms);
        terms.gradient_factor = 0.3F;
        const auto expected = step.stepped(terms);
        step.hand_over(super);
        REQUIRE(super.validate(0.3F) == StepOutcome::redone);
        REQUIRE(step.arrays() == expected);
    }
}

TEST_CASE("The gradients can be read on the host as the device had them") {
    HostStep step(elements, sub_group, 13);
    SuperOffload super = make_super();
    super.begin({});
    REQUIRE(super.gradients().empty());
    step.hand_over(super);
    super.wait();
    const auto found = super.gradients();
    REQUIRE(found.size() == elements * 2);
    REQUIRE(std::memcmp(found.data(), step.gradients().data(), found.size()) == 0);
}

TEST_CASE("A rollback gives random states back bit for bit, whatever bits they are") {
    for (std::uint32_t seed = 0; seed < 40; ++seed) {
        CAPTURE(seed);
        HostStep step(elements / 4, sub_group / 4, 100 + seed);
        step.fill_with_bits();
        const auto before = step.arrays();
        SuperOffload super = make_super();
        super.begin({.number = 1 + seed, .gradient_factor = 0.5F});
        step.hand_over(super);
        if (seed % 2 == 0) super.wait();
        super.rollback();
        REQUIRE(step.arrays() == before);
        REQUIRE_FALSE(super.is_pending());
        super.rollback();
        REQUIRE(step.arrays() == before);
    }
}

TEST_CASE("A rollback at any moment of a step gives everything back") {
    for (const std::size_t finished : {0U, 1U, 4U, 7U}) {
        CAPTURE(finished);
        HostStep step(elements, sub_group, 14);
        const auto before = step.arrays();
        Gate gate;
        {
            SuperOffload super = make_super(stopping_at(gate, finished));
            super.begin({});
            step.hand_over(super);
            REQUIRE(gate.wait_for_arrivals(1));
            if (finished > 0) REQUIRE(step.arrays() != before);
            super.rollback();
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
    {
        SuperOffload super = make_super();
        super.begin({});
        step.hand_over(super);
        super.wait();
        REQUIRE(step.arrays() != before);
        super.begin({});
        REQUIRE(step.arrays() == before);
        step.hand_over(super);
        super.wait();
        REQUIRE(step.arrays() != before);
    }
    REQUIRE(step.arrays() == before);
}

TEST_CASE("Steps that were rolled back between others leave no trace in them") {
    HostStep plain(elements, sub_group, 16);
    HostStep speculated(elements, sub_group, 16);
    SuperOffload super = make_super();
    for (std::int64_t number = 1; number <= 20; ++number) {
        const StepTerms terms{.number = number, .gradient_factor = 0.25F, .format = LowPrecision::fp16};
        plain.make_gradients(terms.format);
        speculated.make_gradients(terms.format);
        plain.arrays() = plain.stepped(terms);
        for (std::int64_t attempt = 0; attempt < number % 3; ++attempt) {
            super.begin({.number = number + attempt, .gradient_factor = 3.0F, .format = terms.format});
            speculated.hand_over(super);
            super.rollback();
        }
        const bool right = number % 2 == 0;
        super.begin({.number = number, .gradient_factor = right ? 0.25F : 2.0F, .format = terms.format});
        speculated.hand_over(super);
        REQUIRE(super.validate(0.25F) == (right ? StepOutcome::kept : StepOutcome::redone));
        REQUIRE(speculated.arrays() == plain.arrays());
    }
}

TEST_CASE("Gradients from the host, and their sums with those on the device, give the bits of accumulation") {
    const auto format = GENERATE(LowPrecision::bf16, LowPrecision::fp16);
    for (const bool add : {false, true}) {
        for (const bool right : {true, false}) {
            CAPTURE(add, right);
            HostStep step(elements, sub_group, 22);
            step.make_gradients(format);
            const auto on_host = step.gradients();
            step.make_gradients(format);
            auto sums = step.gradients();
            for (std::size_t i = 0; i < sums.size(); ++i) {
                const auto sum = [&]<typename Lp>(Lp) {
                    return Lp::from_float(Lp{sums[i]}.to_float() + Lp{on_host[i]}.to_float()).bits;
                };
                if (!add) {
                    sums[i] = on_host[i];
                } else {
                    sums[i] = format == LowPrecision::bf16 ? sum(zero::Bf16{}) : sum(zero::Fp16{});
                }
            }
            SuperOffload super = make_super();
            super.begin({.number = 3, .gradient_factor = right ? 0.5F : 1.0F, .format = format});
            step.hand_over_from_host(super, on_host, add);
            // The expectation is computed from the arrays as they were: those of a twin that nobody steps.
            HostStep twin(elements, sub_group, 22);
            twin.expect_gradients(sums);
            const auto expected = twin.stepped({.number = 3, .gradient_factor = 0.5F, .format = format});
            REQUIRE(super.validate(0.5F) == (right ? StepOutcome::kept : StepOutcome::redone));
            REQUIRE(step.arrays() == expected);
            REQUIRE(std::memcmp(super.gradients().data(), sums.data(), sums.size() * 2) == 0);
        }
    }
}

TEST_CASE("The calling thread leaves the workers' cores alone for as long as it is asked to") {
    const auto before = zero::CoreSet::of_this_thread();
    SuperOffload super = make_super();
    auto off = super.yield_cores();
    REQUIRE(zero::CoreSet::of_this_thread() == (super.cores().rest.empty() ? before : super.cores().rest));
    off.reset();
    REQUIRE(zero::CoreSet::of_this_thread() == before);
}

TEST_CASE("Gradients larger than the scratch are refused at the caller, and the step is rolled back") {
    HostStep step(elements, sub_group, 17);
    const auto before = step.arrays();
    // The first sub-group that is larger than all of the scratch, then only their sum.
    SuperOffload too_small(step.largest_sub_group() - 1, 0.8, {.workers = 1}, pageable);
    too_small.begin({});
    REQUIRE_THROWS_AS(step.hand_over(too_small), CapacityError);
    REQUIRE_FALSE(too_small.is_pending());
    REQUIRE(step.arrays() == before);

    SuperOffload almost(elements - 1, 0.8, {.workers = 1}, pageable);
    almost.begin({});
    REQUIRE_THROWS_AS(step.hand_over(almost), CapacityError);
    REQUIRE(step.arrays() == before);
}

TEST_CASE("The scratch is pinned or pageable as it is told, and its pin is the only one") {
    const auto pinning = GENERATE(Pinning::pinned, Pinning::pageable);
    const auto backend = std::make_shared<ScriptedBackend>();
    audit::Scope scope("super");
    HostStep step(elements, sub_group, 18);
    {
        SuperOffload super(elements, 0.8, {.workers = 1},
                           {.pinning = pinning, .backend = backend, .scope = scope, .label = "gradients"});
        REQUIRE(super.is_pinned() == (pinning == Pinning::pinned));
        REQUIRE(super.capacity_bytes() == elements * 2);
        const auto records = scope.report().records;
        REQUIRE(records.size() == (pinning == Pinning::pinned ? 1 : 0));
        for (const auto& record : records) REQUIRE(record.bytes == elements * 2);
        super.begin({});
        step.hand_over(super);
        super.validate(0.5F);
        REQUIRE(backend->acquire_count() == records.size());
    }
    REQUIRE(backend->outstanding().empty());
    REQUIRE(scope.close(std::chrono::seconds(10)).is_clean());
}

TEST_CASE("A scratch that is refused leaves nothing behind") {
    const auto backend = std::make_shared<ScriptedBackend>();
    backend->fail_acquire(1);
    REQUIRE_THROWS_AS(SuperOffload(elements, 0.8, {}, {.backend = backend}), PinError);
    REQUIRE(backend->outstanding().empty());
}

TEST_CASE("Workers run on the cores that they were given, and the caller keeps its own") {
    const auto before = zero::CoreSet::of_this_thread();
    std::mutex mutex;
    std::vector<zero::CoreSet> seen;
    std::set<std::thread::id> threads;
    HostStep step(elements, sub_group, 19);
    SuperOffload super = make_super({.workers = 2, .before_sub_group = [&](std::size_t) {
                                         const std::lock_guard lock(mutex);
                                         seen.push_back(zero::CoreSet::of_this_thread());
                                         threads.insert(std::this_thread::get_id());
                                     }});
    REQUIRE(zero::CoreSet::of_this_thread() == before);
    super.begin({});
    step.hand_over(super);
    super.wait();
    REQUIRE_FALSE(seen.empty());
    for (const auto& cores : seen) REQUIRE(cores == super.cores().adam);
    REQUIRE_FALSE(threads.contains(std::this_thread::get_id()));
    REQUIRE(super.cores().adam.size() + super.cores().rest.size() == before.size());
}

TEST_CASE("Each sub-group is announced once, by its number within the step") {
    std::mutex mutex;
    std::vector<std::size_t> numbers;
    HostStep step(elements, sub_group, 20);
    SuperOffload super = make_super({.workers = 3, .before_sub_group = [&](std::size_t number) {
                                         const std::lock_guard lock(mutex);
                                         numbers.push_back(number);
                                     }});
    super.begin({});
    step.hand_over(super);
    super.wait();
    std::ranges::sort(numbers);
    for (std::size_t i = 0; i < numbers.size(); ++i) REQUIRE(numbers[i] == i);
    REQUIRE(numbers.size() > 2);
}

TEST_CASE("A step of no sub-groups, and one of none with elements, is a step") {
    SuperOffload none(0, 0.8, {.workers = 1}, pageable);
    none.begin({});
    REQUIRE(none.validate(1.0F) == StepOutcome::kept);
    const auto stream = FaultyAccelerator().create_stream("empty");
    none.begin({});
    none.async_step({}, {}, *stream);
    REQUIRE(none.validate(0.5F) == StepOutcome::redone);
}

TEST_CASE("Options that cannot work are refused") {
    REQUIRE_THROWS_AS(make_super({.queue_capacity = 0}), SizeError);
    REQUIRE_THROWS_AS(make_super({.timeout = std::chrono::nanoseconds(0)}), SizeError);
    for (const double fraction : {0.0, 1.5}) {
        REQUIRE_THROWS_AS(SuperOffload(elements, fraction, {}, pageable), SizeError);
    }
    // For ever is a valid time-out.
    const SuperOffload super = make_super({.timeout = std::chrono::nanoseconds::max()});
    REQUIRE_FALSE(super.is_pending());
}
