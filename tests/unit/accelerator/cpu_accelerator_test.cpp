// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/accelerator/cpu_accelerator.hpp>

#include <future>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <support/failing_new.hpp>
#include <support/release_failure_log.hpp>

namespace pinwarden::testing {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

TEST_CASE("A CPU accelerator says what it is and what it has", "[cpu_accelerator]") {
    CHECK(make_cpu_accelerator()->name() == "cpu");
    CHECK(make_cpu_accelerator()->memory().capacity == unlimited_bytes);
    CHECK(make_cpu_accelerator({.capacity_bytes = 4096})->memory().capacity == 4096);
}

TEST_CASE("Device memory can be used up to the capacity and not beyond", "[cpu_accelerator]") {
    const auto accelerator = make_cpu_accelerator({.capacity_bytes = 1000});
    const auto stream = accelerator->create_stream("main");
    std::byte* const block = stream->allocate(900);
    CHECK_THROWS_MATCHES(
        stream->allocate(101), AcceleratorError,
        MessageMatches(ContainsSubstring("allocate(101 bytes") && ContainsSubstring("'main'") &&
                       ContainsSubstring("900 bytes") && ContainsSubstring("1000 bytes")));
    std::byte* const rest = stream->allocate(100);
    CHECK(accelerator->memory().in_use == 1000);
    stream->deallocate(block, 900);
    stream->deallocate(rest, 100);
    stream->synchronize();
    CHECK(accelerator->memory().in_use == 0);
    CHECK(accelerator->memory().peak == 1000);
}

TEST_CASE("Two accelerators have memory of their own", "[cpu_accelerator]") {
    const auto one = make_cpu_accelerator({.capacity_bytes = 100});
    const auto other = make_cpu_accelerator({.capacity_bytes = 100});
    const auto stream = one->create_stream("one");
    const auto other_stream = other->create_stream("other");
    std::byte* const block = stream->allocate(100);
    CHECK(other->memory().in_use == 0);
    std::byte byte{};
    CHECK_THROWS_AS(other_stream->copy_to_device(block, &byte, 1), AcceleratorError);
    stream->deallocate(block, 100);
}

TEST_CASE("An allocation waits for the frees that are queued if it needs them", "[cpu_accelerator]") {
    const auto accelerator = make_cpu_accelerator({.capacity_bytes = 1000});
    const auto stream = accelerator->create_stream("reuse");
    std::promise<void> gate;
    stream->launch([opened = gate.get_future().share()] { opened.wait(); });
    stream->deallocate(stream->allocate(800), 800);
    CHECK(accelerator->memory().in_use == 800);
    CHECK_THROWS_AS(stream->allocate(1001), AcceleratorError);  // they would not suffice
    auto allocation = std::async(std::launch::async, [&] {
        return accelerator->create_stream("another")->allocate(700);
    });
    CHECK(allocation.wait_for(std::chrono::milliseconds(20)) == std::future_status::timeout);
    gate.set_value();
    std::byte* const block = allocation.get();
    CHECK(accelerator->memory().in_use == 700);
    CHECK(accelerator->memory().peak == 800);
    stream->deallocate(block, 700);
}

TEST_CASE("Work that allocates on its own stream does not wait for itself", "[cpu_accelerator]") {
    const auto accelerator = make_cpu_accelerator({.capacity_bytes = 100});
    const auto stream = accelerator->create_stream("nested");
    std::byte* const block = stream->allocate(80);
    stream->launch([&stream = *stream, block] {
        stream.deallocate(block, 80);
        static_cast<void>(stream.allocate(80));
    });
    CHECK_THROWS_AS(stream->synchronize(), AcceleratorError);
    stream->synchronize();  // for the free that the work has queued
    CHECK(accelerator->memory().in_use == 0);
}

TEST_CASE("What no machine has is refused before it is touched", "[cpu_accelerator]") {
    const auto accelerator = make_cpu_accelerator();
    const auto stream = accelerator->create_stream("big");
    CHECK_THROWS_MATCHES(stream->allocate(std::size_t{1} << 50), AcceleratorError,
                         MessageMatches(ContainsSubstring("capacity unlimited")));
    CHECK(accelerator->memory().peak == 0);
}

TEST_CASE("Giving back what is no block reports it and changes nothing", "[cpu_accelerator]") {
    const auto accelerator = make_cpu_accelerator();
    const auto stream = accelerator->create_stream("strict");
    std::byte* const block = stream->allocate(64);
    {
        ReleaseFailureLog failures;
        stream->deallocate(block, 63);      // another size
        stream->deallocate(block + 1, 63);  // not the start
        stream->deallocate(nullptr, 64);
        const auto reported = failures.take();
        REQUIRE(reported.size() == 3);
        CHECK_THAT(reported.front().text, ContainsSubstring("63 bytes") && ContainsSubstring("'strict'"));
        stream->synchronize();
        CHECK(accelerator->memory().in_use == 64);
    }
    stream->deallocate(block, 64);
    {
        ReleaseFailureLog failures;
        stream->deallocate(block, 64);  // twice
        CHECK(failures.take().size() == 1);
    }
    stream->synchronize();
    CHECK(accelerator->memory().allocations == 0);
}

TEST_CASE("A copy must stay inside one block that has not been given back", "[cpu_accelerator]") {
    const auto stream = make_cpu_accelerator()->create_stream("fenced");
    std::vector<std::byte> host(200);
    std::byte* const block = stream->allocate(100);
    CHECK_THROWS_MATCHES(
        stream->copy_to_device(block + 50, host.data(), 51), AcceleratorError,
        MessageMatches(ContainsSubstring("copy_to_device(") && ContainsSubstring("51 bytes")));
    CHECK_THROWS_AS(stream->copy_to_host(host.data(), block, 101), AcceleratorError);
    CHECK_THROWS_AS(stream->copy_to_host(host.data(), host.data() + 100, 1), AcceleratorError);
    CHECK_NOTHROW(stream->copy_to_device(block + 50, host.data(), 50));
    stream->deallocate(block, 100);
    CHECK_THROWS_AS(stream->copy_to_host(host.data(), block, 1), AcceleratorError);
    stream->synchronize();
}

TEST_CASE("Memory that runs short at any point leaves an accelerator as it was", "[cpu_accelerator][failing_new]") {
    const auto accelerator = make_cpu_accelerator();
    const auto stream = accelerator->create_stream("short");
    std::byte host{};
    std::byte* const block = stream->allocate(1);
    const auto fails_cleanly = [&](const auto& call) {
        for (std::size_t nth = 1;; ++nth) {
            const FailingNew failure(nth);
            try {
                call();
            } catch (const std::bad_alloc&) {
            } catch (const AcceleratorError&) {
            }
            if (!failure.failed()) return nth > 1;
            stream->synchronize();
            if (accelerator->memory().in_use != 1 || accelerator->memory().allocations != 1) return false;
        }
    };
    CHECK(fails_cleanly([&] { stream->deallocate(stream->allocate(100), 100); }));
    CHECK(fails_cleanly(
        [&] { static_cast<void>(accelerator->create_stream("another stream, not on the stack")); }));
    CHECK(fails_cleanly([&] { stream->copy_to_device(block, &host, 1); }));
    CHECK(fails_cleanly([&] { stream->launch([] {}); }));
    CHECK(fails_cleanly([&] { static_cast<void>(stream->record()); }));
    stream->deallocate(block, 1);
    stream->synchronize();
    CHECK(accelerator->memory().in_use == 0);
}

TEST_CASE("Giving back needs no memory", "[cpu_accelerator][failing_new]") {
    const auto accelerator = make_cpu_accelerator();
    const auto stream = accelerator->create_stream("frugal");
    std::byte* const block = stream->allocate(100);
    {
        const FailingNew failure(1);
        stream->deallocate(block, 100);
        CHECK_FALSE(failure.failed());
    }
    stream->synchronize();
    CHECK(accelerator->memory().in_use == 0);
}

TEST_CASE("Threads that allocate at the same time are counted exactly", "[cpu_accelerator]") {
    const auto accelerator = make_cpu_accelerator({.capacity_bytes = 4 * 64});
    {
        std::vector<std::jthread> threads;
        for (int t = 0; t < 4; ++t) {
            threads.emplace_back([&accelerator] {
                const auto stream = accelerator->create_stream("racing");
                for (int round = 0; round < 200; ++round) stream->deallocate(stream->allocate(64), 64);
            });
        }
    }
    CHECK(accelerator->memory().in_use == 0);
    CHECK(accelerator->memory().allocations == 0);
    CHECK(accelerator->memory().peak <= accelerator->memory().capacity);
}

}  // namespace pinwarden::testing
