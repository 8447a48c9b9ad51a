// SPDX-License-Identifier: Apache-2.0
// What other runtimes got wrong about memory in flight, one case each; docs/testing.md lists where the others are.
#include <pinwarden/accelerator/cpu_accelerator.hpp>
#include <pinwarden/audit/registry.hpp>
#include <pinwarden/backend/pageable_backend.hpp>
#include <pinwarden/backend/scripted_backend.hpp>
#include <pinwarden/own/copy.hpp>
#include <pinwarden/own/pinned_scratch.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include <support/faulty_accelerator.hpp>

namespace pinwarden::testing {

namespace {

/// Pageable memory that remembers by which threads it was given back.
class WitnessOfReleases final : public PinBackend {
public:
    [[nodiscard]] const std::vector<std::thread::id>& releasers() const noexcept { return releasers_; }

    [[nodiscard]] std::string_view name() const noexcept override { return "witness"; }
    [[nodiscard]] bool pins() const noexcept override { return true; }
    [[nodiscard]] HostBlock allocate(std::size_t bytes) override { return memory_->allocate(bytes); }
    [[nodiscard]] UnpinAnswer deallocate(const HostBlock& block) noexcept override {
        releasers_.push_back(std::this_thread::get_id());
        return memory_->deallocate(block);
    }
    [[nodiscard]] HostBlock register_memory(std::byte* address, std::size_t bytes) override {
        return memory_->register_memory(address, bytes);
    }
    [[nodiscard]] UnpinAnswer unregister_memory(const HostBlock& block) noexcept override {
        return memory_->unregister_memory(block);
    }

private:
    PinBackendPtr memory_ = pageable_backend();
    std::vector<std::thread::id> releasers_;
};

}  // namespace

TEST_CASE("Trap 2: memory whose stream has been destroyed since is kept until its copy ends", "[traps]") {
    const auto accelerator = std::make_shared<FaultyAccelerator>();
    const auto backend = std::make_shared<ScriptedBackend>();
    auto owner = accelerator->create_stream("owner");
    auto stream = accelerator->create_stream("short-lived");
    DeviceBuffer<int> device(100, owner);
    owner->synchronize();
    PinnedBuffer<int> host(100, {.backend = backend});
    std::ranges::fill(host.span(), 9);
    {
        const auto hold = accelerator->hold("short-lived");
        copy(std::as_const(host), device, *stream);
        host.reset();
        audit::Registry::instance().collect();
        CHECK(backend->outstanding().size() == 1);
    }
    stream.reset();
    audit::Registry::instance().collect();
    CHECK(backend->outstanding().empty());
}

TEST_CASE("Trap 3: memory in flight is released by a thread of the program, never by the stream", "[traps]") {
    const auto accelerator = std::make_shared<FaultyAccelerator>();
    const auto backend = std::make_shared<WitnessOfReleases>();
    const auto stream = accelerator->create_stream("copies");
    DeviceBuffer<int> device(100, stream);
    {
        const auto hold = accelerator->hold("copies");
        PinnedBuffer<int> host(100, {.backend = backend});
        copy(std::as_const(host), device, *stream);
    }
    stream->synchronize();
    CHECK(backend->releasers().empty());
    audit::Registry::instance().collect();
    CHECK(backend->releasers() == std::vector{std::this_thread::get_id()});
}

TEST_CASE("Trap 4: a use on a destroyed stream is not taken for one on the stream made next", "[traps]") {
    const auto accelerator = make_cpu_accelerator();
    auto first = accelerator->create_stream("same name");
    const auto earlier = first->record();
    first.reset();
    const auto second = accelerator->create_stream("same name");
    CHECK(second->record()->queue() != earlier->queue());
    CHECK(earlier->is_complete());
}

TEST_CASE("Trap 1: a copy whose event cannot be recorded is waited for before its memory is reused", "[traps]") {
    const auto accelerator = std::make_shared<FaultyAccelerator>();
    const auto backend = std::make_shared<ScriptedBackend>();
    const auto stream = accelerator->create_stream("copies");
    DeviceBuffer<int> device(100, stream);
    PinnedScratch<int> scratch(100, {.backend = backend});
    const auto part = scratch.acquire(100);
    std::ranges::fill(part, 9);
    accelerator->fail_call(AcceleratorCall::record, 1);
    CHECK_THROWS_AS(copy(scratch, part, device, *stream), AcceleratorError);
    std::ranges::fill(scratch.acquire(100), -1);
    PinnedScratch<int> received(100, {.backend = backend});
    copy(device, received, received.acquire(100), *stream);
    CHECK(std::ranges::all_of(received.acquire(100), [](int value) { return value == 9; }));
}

TEST_CASE("A copy that can neither be recorded nor waited for keeps its memory for good, and reports say so",
          "[traps]") {
    const auto accelerator = std::make_shared<FaultyAccelerator>();
    const auto backend = std::make_shared<ScriptedBackend>();
    const auto stream = accelerator->create_stream("its own");
    DeviceBuffer<int> device(100, stream);
    stream->synchronize();
    PinnedBuffer<int> host(100, {.backend = backend, .label = "lost"});
    bool has_thrown = false;
    // Work cannot wait for its own stream.
    stream->launch([&] {
        accelerator->fail_call(AcceleratorCall::record, 1);
        try {
            copy(std::as_const(host), device, *stream);
        } catch (const AcceleratorError&) {
            has_thrown = true;
        }
    });
    stream->synchronize();
    CHECK(has_thrown);
    host.reset();
    audit::Registry::instance().collect();
    CHECK(backend->outstanding().size() == 1);
    const auto records = audit::Registry::instance().snapshot();
    const auto lost = std::ranges::find(records, "lost", &audit::PinRecord::label);
    REQUIRE(lost != records.end());
    CHECK(lost->state == audit::PinState::in_flight);
    CHECK(lost->detail.find("could not be recorded") != std::string::npos);
}

TEST_CASE("A stream that reports earlier work as failed has been waited for all the same", "[traps]") {
    const auto accelerator = std::make_shared<FaultyAccelerator>();
    const auto backend = std::make_shared<ScriptedBackend>();
    const auto stream = accelerator->create_stream("fails");
    DeviceBuffer<int> device(100, stream);
    PinnedBuffer<int> host(100, {.backend = backend});
    stream->launch([] { throw AcceleratorError("earlier work"); });
    accelerator->fail_call(AcceleratorCall::record, 1);
    CHECK_THROWS_AS(copy(std::as_const(host), device, *stream), AcceleratorError);
    host.reset();
    CHECK(backend->outstanding().empty());
}

TEST_CASE("Foreign work is recorded by its stream", "[traps]") {
    const auto accelerator = std::make_shared<FaultyAccelerator>();
    const auto backend = std::make_shared<ScriptedBackend>();
    const auto stream = accelerator->create_stream("foreign");
    PinnedBuffer<int> host(100, {.backend = backend});
    {
        const auto hold = accelerator->hold("foreign");
        stream->launch([data = host.data()] { *data = 1; });
        host.record_use(*stream);
        host.reset();
        audit::Registry::instance().collect();
        CHECK(backend->outstanding().size() == 1);
    }
    stream->synchronize();
    audit::Registry::instance().collect();
    CHECK(backend->outstanding().empty());
}

}  // namespace pinwarden::testing
