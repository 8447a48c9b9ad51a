// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/accelerator/cpu_accelerator.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <pinwarden/accelerator/device_buffer.hpp>

#include <support/faulty_accelerator.hpp>
#include <support/release_failure_log.hpp>

namespace pinwarden::testing {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Message;
using Catch::Matchers::MessageMatches;
using namespace std::chrono_literals;

TEST_CASE("Launched work reads and writes device memory in its turn", "[cpu_stream]") {
    const auto stream = make_cpu_accelerator()->create_stream("compute");
    const std::array<int, 4> sent{1, 2, 3, 4};
    std::array<int, 4> received{};
    DeviceBuffer<int> numbers(sent.size(), stream);
    auto* const device = reinterpret_cast<std::byte*>(numbers.device_span().data());
    stream->copy_to_device(device, reinterpret_cast<const std::byte*>(sent.data()), sizeof sent);
    stream->launch([elements = numbers.device_span()] {
        for (int& element : elements) element *= 10;
    });
    stream->copy_to_host(reinterpret_cast<std::byte*>(received.data()), device, sizeof received);
    stream->synchronize();
    CHECK(received == std::array<int, 4>{10, 20, 30, 40});
}

TEST_CASE("A copy reads the host's memory in its turn, not when it is queued", "[cpu_stream]") {
    const auto accelerator = std::make_shared<FaultyAccelerator>();
    const auto stream = accelerator->create_stream("lazy");
    std::byte host{1};
    std::byte received{};
    std::byte* const block = stream->allocate(1);
    const auto hold = accelerator->hold();
    stream->copy_to_device(block, &host, 1);
    host = std::byte{2};
    stream->copy_to_host(&received, block, 1);
    stream->deallocate(block, 1);
    hold.open();
    stream->synchronize();
    CHECK(received == std::byte{2});
}

TEST_CASE("Work that throws stops nothing, and the first failure is thrown once", "[cpu_stream]") {
    const auto stream = make_cpu_accelerator()->create_stream("failing");
    bool has_run = false;
    stream->launch([] { throw std::out_of_range("first"); });
    const auto event = stream->record();
    stream->launch([] { throw std::runtime_error("second"); });
    stream->launch([&] { has_run = true; });
    CHECK_THROWS_MATCHES(stream->synchronize(), std::out_of_range, Message("first"));
    CHECK(has_run);
    CHECK(event->is_complete());
    CHECK_NOTHROW(stream->synchronize());
    stream->launch([] { throw 7; });
    CHECK_THROWS_AS(stream->synchronize(), int);
}

TEST_CASE("A failure that nobody has asked for is reported when its stream is gone", "[cpu_stream]") {
    ReleaseFailureLog failures;
    const auto texts_after = [&](const char* name, const std::function<void(Stream&)>& use) {
        auto stream = make_cpu_accelerator()->create_stream(name);
        use(*stream);
        stream.reset();
        std::vector<std::string> texts;
        for (const auto& failure : failures.take()) texts.push_back(failure.text);
        return texts;
    };
    const auto ignored = texts_after("ignored", [](Stream& stream) {
        stream.launch([] { throw std::runtime_error("what went wrong"); });
        stream.launch([] { throw std::runtime_error("a consequence"); });
    });
    REQUIRE(ignored.size() == 1);
    CHECK_THAT(ignored.front(), ContainsSubstring("'ignored'") && ContainsSubstring("what went wrong"));

    const auto odd = texts_after("odd", [](Stream& stream) { stream.launch([] { throw 7; }); });
    REQUIRE(odd.size() == 1);
    CHECK_THAT(odd.front(), ContainsSubstring("'odd'"));

    const auto asked = texts_after("asked", [](Stream& stream) {
        stream.launch([] { throw std::runtime_error("seen"); });
        CHECK_THROWS(stream.synchronize());
    });
    CHECK(asked.empty());
}

TEST_CASE("What work has captured is gone when the work counts as finished", "[cpu_stream]") {
    const auto stream = make_cpu_accelerator()->create_stream("tidy");
    auto captured = std::make_shared<int>(1);
    const std::weak_ptr<int> watch = captured;
    stream->launch([held = std::move(captured)] {});
    CHECK(stream->record()->wait_for(std::chrono::nanoseconds::max()));
    CHECK(watch.expired());
    captured = std::make_shared<int>(2);
    const std::weak_ptr<int> watch_failing = captured;
    stream->launch([held = std::move(captured)] { throw std::runtime_error("fails"); });
    CHECK_THROWS(stream->synchronize());
    CHECK(watch_failing.expired());
}

TEST_CASE("Empty work is refused", "[cpu_stream]") {
    const auto stream = make_cpu_accelerator()->create_stream("empty");
    CHECK_THROWS_AS(stream->launch(nullptr), AcceleratorError);
    CHECK_NOTHROW(stream->synchronize());
}

TEST_CASE("Work that waits for its own stream is told so", "[cpu_stream]") {
    const auto stream = make_cpu_accelerator()->create_stream("circular");
    stream->launch([&stream = *stream] { stream.synchronize(); });
    CHECK_THROWS_MATCHES(
        stream->synchronize(), AcceleratorError,
        MessageMatches(ContainsSubstring("'circular'") && ContainsSubstring("wait for itself")));
}

TEST_CASE("Work may use its own stream and accelerator while it runs", "[cpu_stream]") {
    const auto accelerator = make_cpu_accelerator();
    const auto stream = accelerator->create_stream("reentrant");
    std::vector<int> order;
    stream->launch([&] {
        order.push_back(1);
        stream->launch([&] { order.push_back(3); });
        std::byte* const block = stream->allocate(16);
        stream->deallocate(block, 16);
        if (!stream->record()->is_complete() && accelerator->memory().in_use == 16) order.push_back(2);
    });
    stream->synchronize();
    stream->synchronize();  // for what the work has queued
    CHECK(order == std::vector{1, 2, 3});
    CHECK(accelerator->memory().in_use == 0);
}

TEST_CASE("A stream's own work may drop its last owner, and what is queued still runs", "[cpu_stream]") {
    const auto accelerator = make_cpu_accelerator();
    auto stream = accelerator->create_stream("suicidal");
    std::atomic<int> ran = 0;
    std::promise<void> gate;
    stream->launch([opened = gate.get_future().share()] { opened.wait(); });
    stream->launch([&ran, owner = std::make_shared<StreamPtr>(stream)] {
        owner->reset();
        ++ran;
    });
    DeviceBuffer<int> buffer(25, stream);
    stream->launch([&ran, held = std::make_shared<DeviceBuffer<int>>(std::move(buffer))] { ++ran; });
    stream->launch([&ran] { ++ran; });
    const auto end = stream->record();
    stream.reset();
    gate.set_value();
    REQUIRE(end->wait_for(10s));
    CHECK(ran == 3);
    const auto deadline = std::chrono::steady_clock::now() + 10s;  // the buffer's free is queued behind `end`
    while (accelerator->memory().in_use != 0 && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::sleep_for(1ms);
    }
    CHECK(accelerator->memory().in_use == 0);
}

TEST_CASE("Two streams may drop each other", "[cpu_stream]") {
    const auto accelerator = make_cpu_accelerator();
    auto one = accelerator->create_stream("one");
    auto other = accelerator->create_stream("other");
    const auto both_started = std::make_shared<std::atomic<int>>(0);
    const auto drop = [both_started](StreamPtr& owned) {
        return [both_started, dropped = std::make_shared<StreamPtr>(owned)] {
            ++*both_started;
            while (*both_started < 2) std::this_thread::yield();
            dropped->reset();
        };
    };
    one->launch(drop(other));
    other->launch(drop(one));
    const auto one_end = one->record();
    const auto other_end = other->record();
    one.reset();
    other.reset();
    CHECK(one_end->wait_for(10s));
    CHECK(other_end->wait_for(10s));
}

TEST_CASE("Many threads may queue on one stream, and each sees its own order", "[cpu_stream]") {
    constexpr int threads = 4;
    constexpr int rounds = 500;
    const auto stream = make_cpu_accelerator()->create_stream("shared");
    std::array<std::vector<int>, threads> seen;  // written by the stream's work only: without a lock
    {
        std::vector<std::jthread> queuing;
        for (int t = 0; t < threads; ++t) {
            queuing.emplace_back([&stream, &mine = seen[static_cast<std::size_t>(t)]] {
                for (int round = 0; round < rounds; ++round)
                    stream->launch([&mine, round] { mine.push_back(round); });
                static_cast<void>(stream->record()->wait_for(std::chrono::nanoseconds::max()));
            });
        }
    }
    for (const auto& mine : seen) {
        CHECK(mine.size() == rounds);
        CHECK(std::ranges::is_sorted(mine));
    }
}

TEST_CASE("Several threads may wait for one event", "[cpu_stream]") {
    const auto accelerator = std::make_shared<FaultyAccelerator>();
    const auto stream = accelerator->create_stream("popular");
    const auto hold = accelerator->hold();
    int written = 0;
    stream->launch([&] { written = 42; });
    const auto event = stream->record();
    std::vector<std::future<int>> waiting;
    for (int t = 0; t < 4; ++t) {
        waiting.push_back(std::async(std::launch::async, [&] { return event->wait_for(10s) ? written : 0; }));
    }
    hold.open();
    for (auto& result : waiting) CHECK(result.get() == 42);
}

TEST_CASE("After fork the child's copies of streams and buffers are inert", "[cpu_stream]") {
    const auto accelerator = make_cpu_accelerator();
    auto stream = accelerator->create_stream("parental");
    DeviceBuffer<int> buffer(10, stream);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        ::alarm(20);  // a child that hangs is a failure, not a hanging test
        bool is_refused = false;
        try {
            stream->launch([] {});
        } catch (const AcceleratorError&) {
            is_refused = true;
        }
        buffer.reset();
        stream.reset();
        ::_exit(is_refused ? 0 : 1);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
    CHECK(accelerator->memory().in_use == 40);
    stream->synchronize();
}

}  // namespace pinwarden::testing
