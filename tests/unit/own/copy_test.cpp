// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/own/copy.hpp>

#include <pinwarden/accelerator/cpu_accelerator.hpp>
#include <pinwarden/audit/registry.hpp>
#include <pinwarden/backend/scripted_backend.hpp>
#include <pinwarden/own/pinned_registration.hpp>
#include <pinwarden/own/pinned_scratch.hpp>

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <support/audit_state.hpp>
#include <support/faulty_accelerator.hpp>

namespace pinwarden {

namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using testing::AuditState;
using testing::FaultyAccelerator;
using Buffer = PinnedBuffer<int>;

}  // namespace

TEST_CASE("Elements go to the device and come back", "[own]") {
    const auto accelerator = make_cpu_accelerator();
    const auto stream = accelerator->create_stream("copy");
    Buffer sent(1000, {.backend = std::make_shared<ScriptedBackend>()});
    Buffer received(1000, {.backend = std::make_shared<ScriptedBackend>()});
    std::iota(sent.span().begin(), sent.span().end(), 1);
    DeviceBuffer<int> device(1000, stream);
    copy(sent, device, *stream);
    copy(std::as_const(device), received, *stream);
    received.wait();
    CHECK(std::ranges::equal(sent.span(), received.span()));
}

TEST_CASE("Host memory may be dropped while its copy is queued", "[own]") {
    const auto accelerator = std::make_shared<FaultyAccelerator>();
    const auto stream = accelerator->create_stream("held");
    const auto backend = std::make_shared<ScriptedBackend>();
    DeviceBuffer<int> device(1000, stream);
    Buffer sent(1000, {.backend = backend});
    std::iota(sent.span().begin(), sent.span().end(), 7);
    {
        const auto hold = accelerator->hold();
        copy(sent, device, *stream);
        sent.reset();
        audit::Registry::instance().collect();
        CHECK(backend->outstanding().size() == 1);
    }
    stream->synchronize();
    audit::Registry::instance().collect();
    CHECK(backend->outstanding().empty());
    Buffer received(1000, {.backend = backend});
    copy(std::as_const(device), received, *stream);
    received.wait();
    CHECK(received.span()[0] == 7);
    CHECK(received.span()[999] == 1006);
}

TEST_CASE("A copy between different sizes is an error that names both", "[own]") {
    const auto accelerator = make_cpu_accelerator();
    const auto stream = accelerator->create_stream("copy");
    Buffer host(10, {.backend = std::make_shared<ScriptedBackend>()});
    DeviceBuffer<int> device(11, stream);
    CHECK_THROWS_MATCHES(
        copy(std::as_const(host), device, *stream), SizeError,
        MessageMatches(ContainsSubstring("10 elements") && ContainsSubstring("which has 11")));
    CHECK_THROWS_AS(copy(std::as_const(device), host, *stream), SizeError);
}

TEST_CASE("A copy of nothing is queued nowhere", "[own]") {
    const auto accelerator = make_cpu_accelerator();
    const auto stream = accelerator->create_stream("copy");
    Buffer host;
    DeviceBuffer<int> device;
    CHECK_NOTHROW(copy(std::as_const(host), device, *stream));
    CHECK_NOTHROW(copy(std::as_const(device), host, *stream));
}

TEST_CASE("A copy whose point cannot be recorded is over before the exception leaves", "[own]") {
    const auto accelerator = std::make_shared<FaultyAccelerator>();
    const auto stream = accelerator->create_stream("copy");
    const AuditState before = AuditState::now();
    {
        Buffer host(1000, {.backend = std::make_shared<ScriptedBackend>()});
        std::ranges::fill(host.span(), 3);
        DeviceBuffer<int> device(1000, stream);
        accelerator->fail_call(testing::AcceleratorCall::record, 1);
        CHECK_THROWS_AS(copy(std::as_const(host), device, *stream), AcceleratorError);
    }
    CHECK(AuditState::now() == before);
}

TEST_CASE("A part of a scratch goes to the device and comes back, and the scratch is kept for it", "[own]") {
    const auto accelerator = std::make_shared<FaultyAccelerator>();
    const auto stream = accelerator->create_stream("copy");
    const auto backend = std::make_shared<ScriptedBackend>();
    DeviceBuffer<int> device(400, stream);
    PinnedScratch<int> scratch(1000, {.backend = backend});
    const auto part = scratch.acquire(1000).subspan(100, 400);
    std::iota(part.begin(), part.end(), 3);
    {
        const auto hold = accelerator->hold();
        copy(scratch, part, device, *stream);
        scratch.reset();
        audit::Registry::instance().collect();
        CHECK(backend->outstanding().size() == 1);
    }
    PinnedScratch<int> received(400, {.backend = backend});
    copy(device, received, received.acquire(400), *stream);
    const auto back = received.acquire(400);  // waits for the copy
    CHECK(back[0] == 3);
    CHECK(back[399] == 402);
    audit::Registry::instance().collect();
    CHECK(backend->outstanding().size() == 1);
}

TEST_CASE("Registered memory goes to the device and comes back, and is unpinned after its copies", "[own]") {
    const auto accelerator = make_cpu_accelerator();
    const auto stream = accelerator->create_stream("copy");
    const auto backend = std::make_shared<ScriptedBackend>();
    std::vector<int> memory(2048);
    std::iota(memory.begin(), memory.begin() + 1024, 1);
    const gsl::span<int> whole(memory);
    {
        PinnedRegistration pinned(whole, {.backend = backend});
        DeviceBuffer<int> device(1024, stream);
        copy(pinned, whole.first(1024), device, *stream);
        copy(device, pinned, whole.last(1024), *stream);
    }
    CHECK(std::equal(memory.begin(), memory.begin() + 1024, memory.begin() + 1024));
    CHECK(backend->outstanding().empty());
}

TEST_CASE("A part that is not the handle's memory is refused before anything is queued", "[own]") {
    const auto accelerator = std::make_shared<FaultyAccelerator>();
    const auto stream = accelerator->create_stream("copy");
    PinnedScratch<int> scratch(10, {.backend = std::make_shared<ScriptedBackend>()});
    DeviceBuffer<int> device(10, stream);
    std::vector<int> foreign(10);
    CHECK_THROWS_MATCHES(copy(scratch, foreign, device, *stream), SizeError,
                         MessageMatches(ContainsSubstring("40 bytes") && ContainsSubstring("outside")));
    const auto whole = scratch.acquire(10);
    CHECK_THROWS_AS(copy(scratch, gsl::span<int>(whole.data() + 1, 10), device, *stream), SizeError);
    CHECK_THROWS_AS(copy(scratch, whole.first(9), device, *stream), SizeError);
    CHECK_THROWS_AS(copy(device, scratch, foreign, *stream), SizeError);
    CHECK(accelerator->call_count(testing::AcceleratorCall::copy_to_device) == 0);
    CHECK(accelerator->call_count(testing::AcceleratorCall::copy_to_host) == 0);
}

}  // namespace pinwarden
