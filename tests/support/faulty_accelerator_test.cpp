// SPDX-License-Identifier: Apache-2.0
#include <support/faulty_accelerator.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <pinwarden/accelerator/cpu_accelerator.hpp>

namespace pinwarden::testing {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

// One call of each kind that may fail, in the order of AcceleratorCall.
void use_everything(FaultyAccelerator& accelerator) {
    std::byte host{};  // outlives the stream: a call that fails leaves a copy in flight
    const auto stream = accelerator.create_stream("used");
    std::byte* const block = stream->allocate(1);
    const auto give_back = std::shared_ptr<void>(nullptr, [&](void*) { stream->deallocate(block, 1); });
    stream->copy_to_device(block, &host, 1);
    stream->copy_to_host(&host, block, 1);
    stream->launch([] {});
    static_cast<void>(stream->record());
    stream->synchronize();
}

}  // namespace

TEST_CASE("Calls that may fail are counted by kind", "[faulty_accelerator]") {
    FaultyAccelerator accelerator;
    use_everything(accelerator);
    CHECK(accelerator.calls() == std::vector{AcceleratorCall::create_stream, AcceleratorCall::allocate,
                                             AcceleratorCall::copy_to_device, AcceleratorCall::copy_to_host,
                                             AcceleratorCall::launch, AcceleratorCall::record});
    use_everything(accelerator);
    CHECK(accelerator.call_count() == 12);
    CHECK(accelerator.call_count(AcceleratorCall::launch) == 2);
    CHECK_FALSE(accelerator.has_failed());
}

TEST_CASE("Each call fails in its turn until none is left", "[faulty_accelerator]") {
    FaultyAccelerator accelerator;
    std::size_t failures = 0;
    for (std::size_t nth = 1;; ++nth) {
        accelerator.fail_call(nth);
        try {
            use_everything(accelerator);
        } catch (const AcceleratorError&) {
            CHECK(accelerator.has_failed());
            CHECK(accelerator.call_count() == nth * (nth + 1) / 2);
            CHECK(accelerator.memory().in_use == 0);
            ++failures;
            continue;
        }
        break;
    }
    CHECK(failures == 6);
    CHECK_FALSE(accelerator.has_failed());
}

TEST_CASE("One kind of call can be made to fail, once", "[faulty_accelerator]") {
    FaultyAccelerator accelerator;
    accelerator.fail_call(AcceleratorCall::record, 2);
    const auto stream = accelerator.create_stream("recorded");
    CHECK_NOTHROW(stream->record());
    CHECK_THROWS_MATCHES(stream->record(), AcceleratorError, MessageMatches(ContainsSubstring("record")));
    CHECK_NOTHROW(stream->record());
    accelerator.fail_call(1);
    accelerator.fail_call(0);
    CHECK_NOTHROW(stream->record());
}

TEST_CASE("Launched work can be made to fail on the stream", "[faulty_accelerator]") {
    FaultyAccelerator accelerator;
    const auto stream = accelerator.create_stream("working");
    std::vector<int> ran;
    accelerator.fail_work(2);
    for (const int number : {1, 2, 3}) stream->launch([&ran, number] { ran.push_back(number); });
    CHECK_THROWS_AS(stream->synchronize(), AcceleratorError);
    CHECK(ran == std::vector{1, 3});
    CHECK(accelerator.has_failed());
}

TEST_CASE("A hold keeps what is queued in flight until it is opened", "[faulty_accelerator]") {
    FaultyAccelerator accelerator;
    const auto stream = accelerator.create_stream("held");
    const auto before = stream->record();
    const auto hold = accelerator.hold();
    const auto later_stream = accelerator.create_stream("made while held");
    const auto during = stream->record();
    const auto on_later_stream = later_stream->record();
    CHECK(before->is_complete());
    CHECK_FALSE(during->wait_for(std::chrono::milliseconds(5)));
    CHECK_FALSE(on_later_stream->is_complete());
    hold.open();
    hold.open();
    stream->synchronize();
    later_stream->synchronize();
    CHECK(during->is_complete());
    CHECK(on_later_stream->is_complete());
    CHECK(accelerator.call_count(AcceleratorCall::launch) == 0);  // the hold itself does not count
    const auto after = accelerator.create_stream("made afterwards");
    CHECK_NOTHROW(after->synchronize());
}

TEST_CASE("A hold that is destroyed is open", "[faulty_accelerator]") {
    FaultyAccelerator accelerator;
    const auto stream = accelerator.create_stream("held");
    std::optional<StreamHold> hold(accelerator.hold());
    const auto event = stream->record();
    CHECK_FALSE(event->is_complete());
    hold.reset();
    CHECK(event->wait_for(std::chrono::nanoseconds::max()));
}

TEST_CASE("A hold by name leaves other streams alone", "[faulty_accelerator]") {
    FaultyAccelerator accelerator;
    const auto copies = accelerator.create_stream("copies");
    const auto compute = accelerator.create_stream("compute");
    const auto hold = accelerator.hold("copies");
    const auto later = accelerator.create_stream("compute");
    const auto held = copies->record();
    compute->synchronize();
    later->synchronize();
    CHECK_FALSE(held->is_complete());
}

TEST_CASE("The accelerator below is the one that was given", "[faulty_accelerator]") {
    const auto inner = make_cpu_accelerator({.capacity_bytes = 64});
    FaultyAccelerator accelerator(inner);
    const auto stream = accelerator.create_stream("outer");
    std::byte* const block = stream->allocate(64);
    CHECK(accelerator.name() == "cpu");
    CHECK(inner->memory().in_use == 64);
    CHECK(accelerator.memory().capacity == 64);
    stream->deallocate(block, 64);
}

}  // namespace pinwarden::testing
