// SPDX-License-Identifier: Apache-2.0
#include "cuda/runtime.hpp"

#include <support/cuda/double_runtime.hpp>
#include <support/release_failure_log.hpp>

#include <thread>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace pinwarden::testing {
namespace {

using Catch::Matchers::ContainsSubstring;
using cuda::detail::Outcome;
using cuda::detail::ProcessGate;
using cuda::detail::unpin_answer;

TEST_CASE("Trap 8: a failed call leaves no error of its own behind", "[cuda]") {
    DoubleRuntime cuda;
    cuda.driver.fail("cudaFreeHost", cudaErrorInvalidValue);
    int block = 0;
    const Outcome outcome = cuda.runtime.call(cuda.runtime.calls().free_host, static_cast<void*>(&block));
    CHECK(outcome.code == cudaErrorInvalidValue);
    CHECK(std::string(outcome.call) == "cudaFreeHost");
    CHECK(cuda.driver.last_error() == cudaSuccess);
}

TEST_CASE("A call that succeeds clears nobody's error", "[cuda]") {
    DoubleRuntime cuda;
    cuda.driver.leave_error(cudaErrorLaunchFailure);
    int device = 0;
    CHECK(cuda.runtime.call(cuda.runtime.calls().get_device, &device).ok());
    CHECK(cuda.driver.last_error() == cudaErrorLaunchFailure);
}

TEST_CASE("Trap 8: a failed call does not clear an error of the same kind that was there before it", "[cuda]") {
    DoubleRuntime cuda;
    cuda.driver.leave_error(cudaErrorInvalidValue);
    cuda.driver.fail("cudaGetDevice", cudaErrorInvalidValue);
    int device = 0;
    CHECK(cuda.runtime.call(cuda.runtime.calls().get_device, &device).code == cudaErrorInvalidValue);
    CHECK(cuda.driver.last_error() == cudaErrorInvalidValue);
}

TEST_CASE("An event that is not ready clears nobody's error, whether the runtime remembers it or not",
          "[cuda]") {
    const bool remembers = GENERATE(true, false);
    DoubleRuntime cuda;
    cuda.driver.remember_not_ready(remembers);
    cuda.driver.fail("cudaEventQuery", cudaErrorNotReady);
    if (!remembers) cuda.driver.leave_error(cudaErrorLaunchFailure);
    CHECK(cuda.runtime.call(cuda.runtime.calls().event_query, cudaEvent_t{}).code == cudaErrorNotReady);
    CHECK(cuda.driver.last_error() == (remembers ? cudaSuccess : cudaErrorLaunchFailure));
}

TEST_CASE("A call behind a closed gate is not made and answers that the runtime is unloading", "[cuda]") {
    DoubleRuntime cuda;
    cuda.gate.close(GENERATE(ProcessGate::State::exiting, ProcessGate::State::forked));
    int device = 0;
    const Outcome outcome = cuda.runtime.call(cuda.runtime.calls().get_device, &device);
    CHECK(outcome.unloading());
    CHECK(cuda.runtime.call_on(0, cuda.runtime.calls().get_device, &device).unloading());
    CHECK(cuda.driver.made().empty());
    CHECK_THAT(cuda.runtime.describe(outcome), ContainsSubstring("must not be called"));
}

TEST_CASE("Trap 15: a call for another device is made with it current and restores the thread's own", "[cuda]") {
    DoubleRuntime cuda(2);
    cuda.driver.choose_device(GENERATE(0, 1));
    const int mine = cuda.driver.current_device();
    const int wanted = GENERATE(0, 1);
    const cudaError_t answer = GENERATE(cudaSuccess, cudaErrorMemoryAllocation);
    if (answer != cudaSuccess) cuda.driver.fail("cudaMemGetInfo", answer);
    std::size_t free = 0;
    std::size_t total = 0;
    CHECK(cuda.runtime.call_on(wanted, cuda.runtime.calls().memory_info, &free, &total).code == answer);
    CHECK(cuda.driver.made("cudaMemGetInfo").at(0).device == wanted);
    CHECK(cuda.driver.current_device() == mine);
    CHECK(cuda.driver.count("cudaSetDevice") == (mine == wanted ? 0u : 2u));
}

TEST_CASE("A call whose device cannot be made current is not made", "[cuda]") {
    DoubleRuntime cuda(2);
    const std::string refusing = GENERATE("cudaGetDevice", "cudaSetDevice");
    cuda.driver.fail(refusing, cudaErrorDevicesUnavailable);
    std::size_t free = 0;
    std::size_t total = 0;
    const Outcome outcome = cuda.runtime.call_on(1, cuda.runtime.calls().memory_info, &free, &total);
    CHECK(outcome.code == cudaErrorDevicesUnavailable);
    CHECK(outcome.call == refusing);
    CHECK(cuda.driver.count("cudaMemGetInfo") == 0);
    CHECK(cuda.driver.current_device() == 0);
    CHECK(cuda.driver.last_error() == cudaSuccess);
}

TEST_CASE("A device that cannot be restored is reported, once", "[cuda]") {
    ReleaseFailureLog failures;
    DoubleRuntime cuda(2);
    std::size_t free = 0;
    std::size_t total = 0;
    for (int round = 0; round < 3; ++round) {
        cuda.driver.choose_device(0);
        cuda.driver.fail("cudaSetDevice", cudaErrorDevicesUnavailable, 2);
        CHECK(cuda.runtime.call_on(1, cuda.runtime.calls().memory_info, &free, &total).ok());
    }
    REQUIRE(failures.texts().size() == 1);
    CHECK_THAT(failures.texts().front(), ContainsSubstring("cudaSetDevice(0)") && ContainsSubstring("(46)"));
}

TEST_CASE("The home device is the one first offered, or else the one that is current first", "[cuda]") {
    DoubleRuntime cuda(3);
    cuda.driver.choose_device(2);
    SECTION("offered") {
        cuda.runtime.offer_home(1);
        cuda.runtime.offer_home(0);
        CHECK(cuda.runtime.home_device() == 1);
    }
    SECTION("current") {
        CHECK(cuda.runtime.home_device() == 2);
        cuda.driver.choose_device(0);
        CHECK(cuda.runtime.home_device() == 2);
        std::thread([&] { CHECK(cuda.runtime.home_device() == 2); }).join();
    }
    SECTION("not known yet") {
        cuda.driver.fail("cudaGetDevice", cudaErrorInitializationError);
        CHECK(cuda.runtime.home_device() == 0);
        CHECK(cuda.runtime.home_device() == 2);
    }
}

TEST_CASE("A release is done, left to an unloading runtime, or failed", "[cuda]") {
    CHECK(unpin_answer({cudaSuccess, "cudaFreeHost"}).status == UnpinStatus::done);
    CHECK(unpin_answer({cudaErrorCudartUnloading, "cudaFreeHost"}).status == UnpinStatus::unloading);
    CHECK(unpin_answer({cudaErrorContextIsDestroyed, "cudaFreeHost"}).status == UnpinStatus::unloading);
    for (int code = 1; code <= 999; ++code) {
        if (code == cudaErrorCudartUnloading || code == cudaErrorContextIsDestroyed) continue;
        const UnpinAnswer answer = unpin_answer({static_cast<cudaError_t>(code), "cudaFreeHost"});
        CHECK(answer.status == UnpinStatus::failed);
        CHECK(answer.code == code);
        CHECK(std::string(answer.call) == "cudaFreeHost");
    }
}

TEST_CASE("A description names the call, the error, its number and its text", "[cuda]") {
    DoubleRuntime cuda;
    CHECK(cuda.runtime.describe({cudaErrorInsufficientDriver, "cudaGetDeviceCount"}) ==
          "cudaGetDeviceCount answered cudaErrorInsufficientDriver (35): CUDA driver version is insufficient "
          "for CUDA "
          "runtime version");
}

}  // namespace
}  // namespace pinwarden::testing
