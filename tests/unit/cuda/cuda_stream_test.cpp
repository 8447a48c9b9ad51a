// SPDX-License-Identifier: Apache-2.0
#include "cuda/cuda_stream.hpp"

#include "cuda/cuda_device.hpp"

#include <support/cuda/double_runtime.hpp>
#include <support/release_failure_log.hpp>

#include <pinwarden/accelerator/device_buffer.hpp>
#include <pinwarden/audit/registry.hpp>
#include <pinwarden/backend/native_backend.hpp>
#include <pinwarden/backend/pageable_backend.hpp>
#include <pinwarden/own/copy.hpp>
#include <pinwarden/own/pinned_buffer.hpp>
#include <pinwarden/own/pinned_scratch.hpp>
#include <pinwarden/pool/pinned_pool.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
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

// Device 1 of two, used from threads whose current device is 0.
struct Fixture : DoubleRuntime {
    Fixture() : DoubleRuntime(2) {}
    ~Fixture() {
        CHECK(driver.violations().empty());
        CHECK(driver.current_device() == 0);
        CHECK(driver.last_error() == cudaSuccess);
    }

    [[nodiscard]] StreamPtr stream(std::string name = "work") {
        return device->create_stream(std::move(name));
    }

    [[nodiscard]] static cudaStream_t native(const StreamPtr& stream) {
        return dynamic_cast<const CudaStream&>(*stream).native();
    }

    std::shared_ptr<CudaDevice> device = std::make_shared<CudaDevice>(runtime, 1);
};

TEST_CASE("A stream's calls are made on its device and pair exactly", "[cuda]") {
    Fixture cuda;
    {
        const auto stream = cuda.stream();
        const DeviceBuffer<int> buffer(1000, stream);
        std::vector<int> host(1000, 3);
        stream->copy_to_device(reinterpret_cast<std::byte*>(const_cast<int*>(buffer.device_span().data())),
                               reinterpret_cast<const std::byte*>(host.data()), buffer.size_bytes());
        stream->synchronize();
        CHECK(cuda.driver.made("cudaStreamCreateWithFlags").at(0).flags == cudaStreamNonBlocking);
    }
    for (const auto& call : cuda.driver.made()) {
        if (call.name == "cudaGetDevice" || call.name == "cudaSetDevice") continue;
        INFO(call.name);
        CHECK(call.device == 1);
    }
    for (const auto& [take, give] : {std::pair{"cudaStreamCreateWithFlags", "cudaStreamDestroy"},
                                     std::pair{"cudaMallocAsync", "cudaFreeAsync"},
                                     std::pair{"cudaEventCreateWithFlags", "cudaEventDestroy"}}) {
        CHECK(cuda.driver.count(take) == cuda.driver.count(give));
    }
    CHECK(cuda.driver.outstanding().empty());
}

TEST_CASE("Copies go in the direction that was asked for", "[cuda]") {
    Fixture cuda;
    const auto stream = cuda.stream();
    std::byte* const block = stream->allocate(16);
    std::byte host[16]{};
    stream->copy_to_device(block, host, 16);
    stream->copy_to_host(host, block, 16);
    const auto made = cuda.driver.made("cudaMemcpyAsync");
    REQUIRE(made.size() == 2);
    CHECK(made[0].flags == cudaMemcpyHostToDevice);
    CHECK(made[1].flags == cudaMemcpyDeviceToHost);
    stream->deallocate(block, 16);
}

TEST_CASE("A copy from or to memory registered in pieces is made in parts", "[cuda]") {
    constexpr std::size_t chunk = cuda::detail::ChunkedRanges::chunk_bytes;
    Fixture cuda;
    const auto stream = cuda.stream();
    std::byte host[1000];
    for (std::size_t i = 0; i < 1000; ++i) host[i] = static_cast<std::byte>(i % 251);
    // As if a registration began so far ahead of the array that a cut falls into its middle.
    std::byte* const begin = host + 400 - chunk;
    cuda.runtime.chunked_ranges().add(cuda::detail::ChunkedRanges::make_node(), {begin, 2 * chunk});
    std::byte* const block = stream->allocate(1000);
    stream->copy_to_device(block, host, 1000);
    auto made = cuda.driver.made("cudaMemcpyAsync");
    REQUIRE(made.size() == 2);
    CHECK(made[0].bytes == 400);
    CHECK(made[1].bytes == 600);
    CHECK(std::equal(host, host + 1000, block));  // the double's device memory is the host's
    std::fill_n(host, 1000, std::byte{});
    stream->copy_to_host(host, block, 1000);
    CHECK(std::equal(host, host + 1000, block));
    CHECK(cuda.driver.count("cudaMemcpyAsync") == 4);

    cuda.driver.fail("cudaMemcpyAsync", cudaErrorInvalidValue, 2);
    CHECK_THROWS_AS(stream->copy_to_device(block, host, 1000), AcceleratorError);
    CHECK(cuda.driver.count("cudaStreamSynchronize") == 1);  // the first part is over
    stream->deallocate(block, 1000);
}

TEST_CASE("Every refusal of a stream's call names the stream, the error and its number, and holds nothing",
          "[cuda]") {
    const cudaError_t code = GENERATE(cudaErrorMemoryAllocation, cudaErrorInvalidValue,
                                      cudaErrorLaunchFailure, cudaErrorCudartUnloading);
    struct Case {
        const char* call;
        std::function<void(Stream&, std::byte* block)> run;
    };
    static std::byte host[64];
    const auto chosen = GENERATE(
        Case{"cudaMallocAsync", [](Stream& stream, std::byte*) { static_cast<void>(stream.allocate(64)); }},
        Case{"cudaMemcpyAsync",
             [](Stream& stream, std::byte* block) { stream.copy_to_device(block, host, 64); }},
        Case{"cudaMemcpyAsync",
             [](Stream& stream, std::byte* block) { stream.copy_to_host(host, block, 64); }},
        Case{"cudaEventCreateWithFlags",
             [](Stream& stream, std::byte*) { static_cast<void>(stream.record()); }},
        Case{"cudaEventRecord", [](Stream& stream, std::byte*) { static_cast<void>(stream.record()); }},
        Case{"cudaStreamSynchronize", [](Stream& stream, std::byte*) { stream.synchronize(); }});
    Fixture cuda;
    const auto stream = cuda.stream("sad");
    std::byte* const block = stream->allocate(64);
    const std::size_t before = cuda.driver.outstanding().size();
    cuda.driver.fail(chosen.call, code);
    // The one refusal that is answered by a second try.
    const bool tries_again =
        std::string(chosen.call) == "cudaMallocAsync" && code == cudaErrorMemoryAllocation;
    if (tries_again) cuda.driver.fail_all(code);
    CHECK_THROWS_MATCHES(chosen.run(*stream, block), AcceleratorError,
                         MessageMatches(ContainsSubstring("'sad' of cuda:1") &&
                                        ContainsSubstring("(" + std::to_string(code) + ")")));
    CHECK(cuda.driver.stop_failing());
    CHECK(cuda.driver.outstanding().size() == before);
    CHECK(cuda.device->memory().in_use == 64);
    stream->deallocate(block, 64);
}

TEST_CASE("A stream that cannot be had is an error", "[cuda]") {
    Fixture cuda;
    cuda.driver.fail("cudaStreamCreateWithFlags", cudaErrorMemoryAllocation);
    CHECK_THROWS_MATCHES(cuda.stream("none"), AcceleratorError,
                         MessageMatches(ContainsSubstring("create_stream(\"none\") on cuda:1")));
    CHECK(cuda.driver.outstanding().empty());
}

TEST_CASE("An allocation waits for what its stream is about to give back", "[cuda]") {
    Fixture cuda;
    cuda.driver.set_device_capacity(1000);
    const auto stream = cuda.stream();
    std::byte* const first = stream->allocate(800);
    cuda.driver.hold(Fixture::native(stream));
    stream->deallocate(first, 800);
    std::thread later([&] {
        while (cuda.driver.count("cudaMallocAsync") < 2) std::this_thread::yield();
        cuda.driver.release(Fixture::native(stream));
    });
    std::byte* const second = stream->allocate(900);
    later.join();
    CHECK(cuda.driver.count("cudaMallocAsync") == 3);
    CHECK(cuda.device->memory().in_use == 900);
    CHECK(cuda.device->memory().peak == 900);
    stream->deallocate(second, 900);
}

TEST_CASE("A block freed without an event counts until its stream is waited for", "[cuda]") {
    const std::string failing = GENERATE("cudaEventCreateWithFlags", "cudaEventRecord");
    Fixture cuda;
    const auto stream = cuda.stream();
    const auto other = cuda.stream("other");
    std::byte* const block = stream->allocate(100);
    cuda.driver.fail(failing, cudaErrorMemoryAllocation);
    stream->deallocate(block, 100);
    CHECK(cuda.driver.stop_failing());
    CHECK(cuda.device->memory().in_use == 100);
    other->synchronize();
    CHECK(cuda.device->memory().in_use == 100);
    stream->synchronize();
    CHECK(cuda.device->memory().in_use == 0);
    CHECK(cuda.driver.outstanding().size() == 2);  // the streams
}

TEST_CASE("A free that fails is reported and the block stays counted", "[cuda]") {
    ReleaseFailureLog failures;
    Fixture cuda;
    const auto stream = cuda.stream();
    std::byte* const block = stream->allocate(100);
    cuda.driver.fail("cudaFreeAsync", cudaErrorInvalidValue);
    stream->deallocate(block, 100);
    stream->synchronize();
    CHECK(cuda.device->memory().in_use == 100);
    CHECK(cuda.device->memory().allocations == 1);
    REQUIRE(failures.texts().size() == 1);
    CHECK_THAT(failures.texts().front(), ContainsSubstring("cudaFreeAsync") && ContainsSubstring("(1)"));
}

TEST_CASE("What is no block of the device is reported and not freed", "[cuda]") {
    ReleaseFailureLog failures;
    Fixture cuda;
    const auto stream = cuda.stream();
    std::byte* const block = stream->allocate(100);
    stream->deallocate(block, 99);
    stream->deallocate(block + 1, 100);
    CHECK(failures.texts().size() == 2);
    CHECK(cuda.driver.count("cudaFreeAsync") == 0);
    stream->deallocate(block, 100);
    stream->deallocate(block, 100);
    CHECK(failures.texts().size() == 3);
    CHECK(cuda.driver.count("cudaFreeAsync") == 1);
}

TEST_CASE("Device memory is not addressable by the host, and launch says so", "[cuda]") {
    Fixture cuda;
    const auto stream = cuda.stream();
    CHECK_THROWS_MATCHES(stream->launch([] {}), AcceleratorError,
                         MessageMatches(ContainsSubstring("not addressable by the host")));
}

TEST_CASE("Work that failed and was not waited for is reported when its stream is destroyed", "[cuda]") {
    ReleaseFailureLog failures;
    Fixture cuda;
    auto stream = cuda.stream("doomed");
    const bool fails_to_wait = GENERATE(true, false);
    cuda.driver.fail(fails_to_wait ? "cudaStreamSynchronize" : "cudaStreamDestroy", cudaErrorLaunchFailure);
    stream.reset();
    REQUIRE(failures.texts().size() == 1);
    CHECK_THAT(failures.texts().front(), ContainsSubstring("'doomed'") && ContainsSubstring("(719)"));
}

TEST_CASE("Trap 2: a handle may be dropped while its copy runs, and its memory is unpinned after the copy",
          "[cuda]") {
    const auto& registry = audit::Registry::instance();
    const auto before = registry.counts().in_flight.pins;
    Fixture cuda;
    const auto stream = cuda.stream();
    DeviceBuffer<int> device(1000, stream);
    cuda.driver.hold(Fixture::native(stream));
    {
        PinnedBuffer<int> host(1000);
        host.data()[999] = 5;
        copy(host, device, *stream);
    }
    CHECK(registry.counts().in_flight.pins == before + 1);
    registry.collect();
    CHECK(registry.counts().in_flight.pins == before + 1);
    cuda.driver.release(Fixture::native(stream));
    CHECK(device.device_span()[999] == 5);  // the double's device memory is the host's
    registry.collect();
    CHECK(registry.counts().in_flight.pins == before);
}

TEST_CASE("A copy whose event cannot be recorded is waited for before the handle can be dropped", "[cuda]") {
    const auto& registry = audit::Registry::instance();
    const auto before = registry.counts();
    Fixture cuda;
    const auto stream = cuda.stream();
    DeviceBuffer<int> device(1000, stream);
    {
        PinnedBuffer<int> host(1000);
        cuda.driver.fail("cudaEventRecord", cudaErrorUnknown);
        CHECK_THROWS_AS(copy(host, device, *stream), AcceleratorError);
        CHECK(cuda.driver.count("cudaStreamSynchronize") == 1);
    }
    CHECK(registry.counts().in_flight == before.in_flight);
    CHECK(registry.counts().live == before.live);
}

TEST_CASE("Memory whose copy was abandoned by the runtime is given to nobody again", "[cuda]") {
    Fixture cuda;
    const auto stream = cuda.stream();
    DeviceBuffer<int> device(10, stream);
    const auto pool = std::make_shared<PinnedPool>(native_backend(), std::size_t{1} << 20);
    PinnedScratch<int> scratch(10, {.backend = native_backend()});
    PinnedBuffer<int> pooled(10, {.backend = pool});
    cuda.driver.hold(Fixture::native(stream));
    copy(scratch, scratch.acquire(10), device, *stream);
    copy(std::as_const(pooled), device, *stream);
    cuda.gate.close(cuda::detail::ProcessGate::State::exiting);
    CHECK_THROWS_MATCHES(scratch.acquire(10), AcceleratorError, MessageMatches(ContainsSubstring("cannot be known")));
    pooled.reset();
    CHECK(pool->statistics().cached_blocks == 0);
}

TEST_CASE("After its gate was closed an accelerator has a capacity and refuses work", "[cuda]") {
    Fixture cuda;
    const auto stream = cuda.stream();
    cuda.gate.close(cuda::detail::ProcessGate::State::forked);
    CHECK_THROWS_MATCHES(stream->allocate(10), AcceleratorError, MessageMatches(ContainsSubstring("fork")));
    std::byte byte{};
    CHECK_THROWS_MATCHES(stream->copy_to_device(&byte, &byte, 1), AcceleratorError,
                         MessageMatches(ContainsSubstring("fork")));
    CHECK_THROWS_AS(stream->synchronize(), AcceleratorError);
}

TEST_CASE("Trap 6: once the runtime is unloading a stream and its memory are left to it", "[cuda]") {
    ReleaseFailureLog failures;
    Fixture cuda;
    auto stream = cuda.stream();
    std::byte* const block = stream->allocate(100);
    auto token = stream->record();
    SECTION("exit has begun") {
        cuda.gate.close(cuda::detail::ProcessGate::State::exiting);
        cuda.driver.forget_calls();
        stream->deallocate(block, 100);
        CHECK_THROWS_AS(stream->synchronize(), AcceleratorError);
        CHECK_THROWS_AS(static_cast<void>(stream->record()), AcceleratorError);
        stream.reset();
        token.reset();
        CHECK(cuda.driver.made().empty());
    }
    SECTION("the runtime says so") {
        cuda.driver.fail_all(cudaErrorCudartUnloading);
        stream->deallocate(block, 100);
        stream.reset();
        token.reset();
        cuda.driver.stop_failing();
        cuda.driver.leave_error(cudaSuccess);
    }
    CHECK(failures.texts().empty());
}

}  // namespace
}  // namespace pinwarden::testing
