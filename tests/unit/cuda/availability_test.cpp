// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/cuda/availability.hpp>

#include "backend/cuda_support.hpp"
#include "cuda/probe.hpp"

#include <support/cuda/double_runtime.hpp>

#include <pinwarden/backend/device_registration.hpp>
#include <pinwarden/backend/native_backend.hpp>
#include <pinwarden/backend/selection.hpp>
#include <pinwarden/core/error.hpp>
#include <pinwarden/cuda/cuda_accelerator.hpp>
#include <pinwarden/cuda/cuda_backend.hpp>
#include <pinwarden/cuda/native_stream.hpp>
#include <pinwarden/own/pinned_buffer.hpp>

#include <string>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace pinwarden::testing {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using cuda::Availability;
using cuda::detail::probe;

TEST_CASE("A driver with devices makes CUDA available", "[cuda]") {
    DoubleRuntime cuda(3);
    const Availability found = probe(cuda.runtime);
    CHECK(found.devices == 3);
    CHECK(found.reason.empty());
    CHECK(cuda.driver.made().size() == 1);  // nothing that would make a context
}

TEST_CASE("Trap 17: a driver that is missing, too old, a stub, or without a device means no accelerator", "[cuda]") {
    const cudaError_t code =
        GENERATE(cudaErrorInsufficientDriver, cudaErrorNoDevice, cudaErrorStubLibrary,
                 cudaErrorInitializationError, cudaErrorSystemNotReady, cudaErrorUnknown);
    DoubleRuntime cuda;
    cuda.driver.fail("cudaGetDeviceCount", code);
    const Availability found = probe(cuda.runtime);
    CHECK(found.devices == 0);
    CHECK_THAT(found.reason, ContainsSubstring("cudaGetDeviceCount answered cudaError") &&
                                 ContainsSubstring("(" + std::to_string(code) + ")"));
    CHECK(cuda.driver.last_error() == cudaSuccess);
    // What the selection makes of it: native unless the variable asks for CUDA, which is an error then.
    CHECK(select_backend(std::nullopt, {nullptr, found.reason}).backend == native_backend());
    CHECK_THROWS_MATCHES(select_backend("cuda", {nullptr, found.reason}), UnavailableError,
                         MessageMatches(ContainsSubstring("DS_PIN_MEMORY_BACKEND=cuda") &&
                                        ContainsSubstring(std::to_string(code)) &&
                                        ContainsSubstring("DS_PIN_MEMORY_BACKEND=native")));
}

TEST_CASE("A driver that counts no device means no accelerator", "[cuda]") {
    DoubleRuntime cuda(0);
    CHECK(probe(cuda.runtime).devices == 0);
    CHECK_FALSE(probe(cuda.runtime).reason.empty());
}

// The runtime that the library is linked with, on whatever machine this is.
TEST_CASE("The real runtime answers gracefully, with a driver or without", "[cuda]") {
    const Availability& found = cuda::availability();
    CHECK(&found == &cuda::availability());
    if (found.devices > 0) {
        CHECK(cuda::cuda_backend()->name() == "cuda");
        CHECK(cuda::make_cuda_accelerator(0)->name() == "cuda:0");
        CHECK(cudaPeekAtLastError() == cudaSuccess);
    } else {
        CHECK_THAT(found.reason, ContainsSubstring("cudaErrorInsufficientDriver (35)") ||
                                     ContainsSubstring("cudaErrorNoDevice (100)") ||
                                     ContainsSubstring("cudaErrorStubLibrary (34)"));
        CHECK_THROWS_MATCHES(cuda::cuda_backend(), UnavailableError,
                             MessageMatches(ContainsSubstring(found.reason)));
        CHECK_THROWS_MATCHES(cuda::make_cuda_accelerator(0), UnavailableError,
                             MessageMatches(ContainsSubstring("cuda:0")));
        const PinnedBuffer<int> buffer(10, {.backend = native_backend()});
        CHECK(buffer.is_pinned());
        CHECK_FALSE(buffer.is_device_pinned());
        CHECK(device_registration_status().last_refusal == found.reason);
        CHECK(device_registration_status().registered == 0);
    }
    CHECK_THROWS_AS(cuda::make_cuda_accelerator(-1), UnavailableError);
    CHECK_THROWS_AS(cuda::make_cuda_accelerator(found.devices), UnavailableError);
    CHECK_THROWS_AS(cuda::record_native(nullptr, found.devices, "none"), UnavailableError);
}

TEST_CASE("An explicit choice of cuda is cuda, or an error that says why not and what to do", "[cuda]") {
    const std::string value = GENERATE("cuda", "torch");
    if (cuda::availability().devices > 0) {
        CHECK(select_backend(value, detail::cuda_availability()).backend->name() == "cuda");
        return;
    }
    CHECK_THROWS_MATCHES(select_backend(value, detail::cuda_availability()), UnavailableError,
                         MessageMatches(ContainsSubstring("DS_PIN_MEMORY_BACKEND=" + value) &&
                                        ContainsSubstring(cuda::availability().reason) &&
                                        ContainsSubstring("set DS_PIN_MEMORY_BACKEND=native or unset it")));
}

}  // namespace
}  // namespace pinwarden::testing
