// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/cuda/native_stream.hpp>

#include "cuda/cuda_device.hpp"
#include "cuda/cuda_stream.hpp"

#include <support/cuda/double_runtime.hpp>

#include <pinwarden/accelerator/cpu_accelerator.hpp>
#include <pinwarden/audit/registry.hpp>
#include <pinwarden/own/pinned_buffer.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace pinwarden::testing {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using cuda::detail::CudaDevice;

TEST_CASE("A CUDA stream gives out the runtime's own handle, and another stream has none", "[cuda]") {
    DoubleRuntime cuda;
    const auto device = std::make_shared<CudaDevice>(cuda.runtime, 0);
    const auto stream = device->create_stream("ours");
    CHECK(cuda::native_stream(*stream) != nullptr);
    CHECK(cuda::native_stream(*stream) == dynamic_cast<cuda::detail::CudaStream&>(*stream).native());
    const auto other = make_cpu_accelerator()->create_stream("theirs");
    CHECK_THROWS_MATCHES(cuda::native_stream(*other), AcceleratorError,
                         MessageMatches(ContainsSubstring("'theirs'")));
}

TEST_CASE("Trap 4: foreign work keeps a handle's memory, also once its stream's handle belongs to another",
          "[cuda]") {
    DoubleRuntime cuda(2);
    cuda.driver.choose_device(1);
    cudaStream_t theirs = nullptr;
    REQUIRE(cuda.driver.calls().stream_create.function(&theirs, 0) == cudaSuccess);
    cuda.driver.choose_device(0);
    cuda.driver.hold(theirs);
    const auto& registry = audit::Registry::instance();
    const auto before = registry.counts().in_flight.pins;
    {
        const PinnedBuffer<int> buffer(10);
        const auto first = cuda::detail::record_native(cuda.runtime, theirs, 1, "loader");
        const auto second = cuda::detail::record_native(cuda.runtime, theirs, 1, "loader");
        CHECK(first->queue() != second->queue());
        CHECK(first->queue_name() == "loader");
        buffer.record_use(first);
        buffer.record_use(second);
    }
    CHECK(registry.counts().in_flight.pins == before + 1);
    cuda.driver.release(theirs);
    registry.collect();
    CHECK(registry.counts().in_flight.pins == before);
    CHECK(cuda.driver.violations().empty());
}

}  // namespace
}  // namespace pinwarden::testing
