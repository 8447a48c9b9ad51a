// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/accelerator/device_buffer.hpp>

#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>

#include <catch2/catch_test_macros.hpp>

#include <pinwarden/accelerator/cpu_accelerator.hpp>

#include <support/faulty_accelerator.hpp>

namespace pinwarden::testing {

static_assert(!std::is_copy_constructible_v<DeviceBuffer<float>>);
static_assert(!std::is_copy_assignable_v<DeviceBuffer<float>>);
static_assert(std::is_nothrow_move_constructible_v<DeviceBuffer<float>>);
static_assert(std::is_nothrow_move_assignable_v<DeviceBuffer<float>>);
static_assert(std::is_nothrow_destructible_v<DeviceBuffer<float>>);

namespace {

struct Device {
    AcceleratorPtr accelerator = make_cpu_accelerator();
    StreamPtr stream = accelerator->create_stream("main");

    // Bytes in use once all frees queued so far have run.
    [[nodiscard]] std::size_t in_use() const {
        stream->synchronize();
        return accelerator->memory().in_use;
    }
};

}  // namespace

TEST_CASE("A default device buffer is empty and holds nothing", "[device_buffer]") {
    const DeviceBuffer<float> buffer;
    CHECK(buffer.empty());
    CHECK(buffer.size() == 0);
    CHECK(buffer.size_bytes() == 0);
    CHECK(buffer.device_span().empty());
}

TEST_CASE("A device buffer holds its bytes until it is destroyed", "[device_buffer]") {
    const Device device;
    {
        const DeviceBuffer<std::uint32_t> buffer(10, device.stream);
        CHECK(buffer.size() == 10);
        CHECK(buffer.size_bytes() == 40);
        CHECK(buffer.device_span().size() == 10);
        CHECK(device.in_use() == 40);
    }
    CHECK(device.in_use() == 0);
}

TEST_CASE("A device buffer of no elements allocates nothing", "[device_buffer]") {
    const auto accelerator = std::make_shared<FaultyAccelerator>();
    const DeviceBuffer<double> buffer(0, accelerator->create_stream("idle"));
    CHECK(buffer.empty());
    CHECK(accelerator->call_count(AcceleratorCall::allocate) == 0);
    CHECK(DeviceBuffer<double>(0, nullptr).empty());
}

TEST_CASE("A device buffer whose size overflows is refused", "[device_buffer]") {
    const Device device;
    CHECK_THROWS_AS(DeviceBuffer<double>(std::numeric_limits<std::size_t>::max() / 4, device.stream),
                    SizeError);
    CHECK(device.in_use() == 0);
}

TEST_CASE("A device buffer that cannot be allocated holds nothing", "[device_buffer]") {
    const auto accelerator = std::make_shared<FaultyAccelerator>();
    const auto stream = accelerator->create_stream("main");
    accelerator->fail_call(AcceleratorCall::allocate, 1);
    CHECK_THROWS_AS(DeviceBuffer<float>(10, stream), AcceleratorError);
    CHECK(accelerator->memory().in_use == 0);
    CHECK(stream.use_count() == 1);
}

TEST_CASE("A moved-from device buffer equals an empty one", "[device_buffer]") {
    const Device device;
    DeviceBuffer<float> source(10, device.stream);
    const float* const address = source.device_span().data();
    const DeviceBuffer<float> target(std::move(source));
    CHECK(source.empty());  // NOLINT(bugprone-use-after-move): the state that is promised
    CHECK(source.size_bytes() == 0);
    CHECK(source.device_span().data() == nullptr);
    CHECK(target.device_span().data() == address);
    CHECK(target.size() == 10);
    CHECK(device.in_use() == 40);
}

TEST_CASE("Move-assignment gives back the old memory once and takes the new", "[device_buffer]") {
    const Device device;
    DeviceBuffer<float> target(10, device.stream);
    DeviceBuffer<float> source(3, device.stream);
    const float* const address = source.device_span().data();
    target = std::move(source);
    CHECK(target.device_span().data() == address);
    CHECK(target.size() == 3);
    CHECK(source.empty());  // NOLINT(bugprone-use-after-move): the state that is promised
    CHECK(device.in_use() == 12);
}

TEST_CASE("Moving a device buffer to itself keeps it", "[device_buffer]") {
    const Device device;
    DeviceBuffer<float> buffer(10, device.stream);
    DeviceBuffer<float>& same = buffer;
    buffer = std::move(same);
    CHECK(buffer.size() == 10);
    CHECK(device.in_use() == 40);
}

TEST_CASE("Reset gives the memory back and may be repeated", "[device_buffer]") {
    const Device device;
    DeviceBuffer<float> buffer(10, device.stream);
    buffer.reset();
    buffer.reset();
    CHECK(buffer.empty());
    CHECK(device.in_use() == 0);
}

TEST_CASE("Swap exchanges two device buffers", "[device_buffer]") {
    const Device device;
    DeviceBuffer<float> one(1, device.stream);
    DeviceBuffer<float> other(2, device.stream);
    one.swap(other);
    CHECK(one.size() == 2);
    CHECK(other.size() == 1);
    CHECK(device.in_use() == 12);
}

TEST_CASE("A dropped device buffer lasts until the work queued on its stream has run", "[device_buffer]") {
    const auto accelerator = std::make_shared<FaultyAccelerator>();
    const auto stream = accelerator->create_stream("main");
    auto hold = accelerator->hold();
    {
        DeviceBuffer<std::uint32_t> buffer(1000, stream);
        stream->launch([elements = buffer.device_span()] {
            for (std::uint32_t& element : elements) element = 1;
        });
    }
    CHECK(accelerator->memory().in_use == 4000);
    hold.open();
    stream->synchronize();
    CHECK(accelerator->memory().in_use == 0);
}

TEST_CASE("A device buffer keeps its stream alive", "[device_buffer]") {
    const auto accelerator = make_cpu_accelerator();
    {
        const DeviceBuffer<float> buffer(10, accelerator->create_stream("kept"));
        CHECK(accelerator->memory().in_use == 40);
    }
    CHECK(accelerator->memory().in_use == 0);  // destroying the stream ran the free
}

}  // namespace pinwarden::testing
