// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/own/copy.hpp>

#include <pinwarden/accelerator/cpu_accelerator.hpp>
#include <pinwarden/audit/registry.hpp>
#include <pinwarden/backend/scripted_backend.hpp>

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

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

}  // namespace pinwarden
