// SPDX-License-Identifier: Apache-2.0
#include "cuda/cuda_device.hpp"

#include "cuda/cuda_stream.hpp"

#include <support/cuda/double_runtime.hpp>

#include <pinwarden/accelerator/device_buffer.hpp>
#include <pinwarden/audit/registry.hpp>
#include <pinwarden/own/copy.hpp>
#include <pinwarden/own/pinned_buffer.hpp>

#include <atomic>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace pinwarden::testing {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using cuda::detail::CudaDevice;
using cuda::detail::CudaStream;

TEST_CASE("A device has a name, a capacity, and becomes the home of pinned memory", "[cuda]") {
    DoubleRuntime cuda(3);
    cuda.driver.set_device_capacity(12345);
    const CudaDevice device(cuda.runtime, 2);
    CHECK(device.name() == "cuda:2");
    CHECK(device.memory().capacity == 12345);
    CHECK(device.memory().in_use == 0);
    CHECK(cuda.runtime.home_device() == 2);
    CHECK(cuda.driver.current_device() == 0);
}

TEST_CASE("A device that cannot be used is an error and no home", "[cuda]") {
    DoubleRuntime cuda(2);
    cuda.driver.fail(GENERATE("cudaSetDevice", "cudaMemGetInfo"), cudaErrorDevicesUnavailable);
    CHECK_THROWS_MATCHES(
        CudaDevice(cuda.runtime, 1), AcceleratorError,
        MessageMatches(ContainsSubstring("cuda:1") && ContainsSubstring("cudaErrorDevicesUnavailable (46)")));
    CHECK(cuda.runtime.home_device() == 0);
    CHECK(cuda.driver.current_device() == 0);
}

TEST_CASE("A buffer used on two devices waits for both", "[cuda]") {
    DoubleRuntime cuda(2);
    std::vector<std::shared_ptr<CudaDevice>> devices;
    std::vector<StreamPtr> streams;
    for (int number = 0; number < 2; ++number) {
        devices.push_back(std::make_shared<CudaDevice>(cuda.runtime, number));
        streams.push_back(devices.back()->create_stream("of " + std::to_string(number)));
    }
    DeviceBuffer<int> first(100, streams[0]);
    DeviceBuffer<int> second(100, streams[1]);
    const auto native = [&](std::size_t number) {
        return dynamic_cast<CudaStream&>(*streams[number]).native();
    };
    cuda.driver.hold(native(0));
    cuda.driver.hold(native(1));
    const auto& registry = audit::Registry::instance();
    const auto before = registry.counts().in_flight.pins;
    {
        PinnedBuffer<int> host(100);
        copy(host, first, *streams[0]);
        copy(host, second, *streams[1]);
    }
    CHECK(registry.counts().in_flight.pins == before + 1);
    const std::size_t finished = GENERATE(0u, 1u);
    cuda.driver.release(native(finished));
    registry.collect();
    CHECK(registry.counts().in_flight.pins == before + 1);
    cuda.driver.release(native(1 - finished));
    registry.collect();
    CHECK(registry.counts().in_flight.pins == before);
    CHECK(cuda.driver.violations().empty());
    CHECK(cuda.driver.current_device() == 0);
}

TEST_CASE("An event of a stream that was destroyed since still answers for it", "[cuda]") {
    DoubleRuntime cuda;
    const auto device = std::make_shared<CudaDevice>(cuda.runtime, 0);
    PinnedBuffer<int> host(100);
    {
        const auto stream = device->create_stream("gone");
        DeviceBuffer<int> buffer(100, stream);
        copy(host, buffer, *stream);
    }
    host.wait();
    CHECK(cuda.driver.violations().empty());
    CHECK(device->memory().in_use == 0);
}

TEST_CASE("Many threads may allocate and free on streams of their own", "[cuda]") {
    DoubleRuntime cuda(2);
    const auto device = std::make_shared<CudaDevice>(cuda.runtime, 1);
    {
        std::vector<std::jthread> threads;
        for (int number = 0; number < 4; ++number) {
            threads.emplace_back([&, number] {
                const auto stream = device->create_stream("thread");
                for (std::size_t round = 1; round <= 200; ++round) {
                    std::byte* const block = stream->allocate(round);
                    stream->deallocate(block, round);
                    if (round % 50 == static_cast<std::size_t>(number)) static_cast<void>(device->memory());
                }
                stream->synchronize();
            });
        }
    }
    CHECK(device->memory().in_use == 0);
    CHECK(device->memory().allocations == 0);
    CHECK(cuda.driver.outstanding().empty());
    CHECK(cuda.driver.violations().empty());
}

}  // namespace
}  // namespace pinwarden::testing
