// SPDX-License-Identifier: Apache-2.0
#include "cuda/cuda_token.hpp"

#include <support/cuda/double_runtime.hpp>
#include <support/release_failure_log.hpp>

#include <pinwarden/accelerator/accelerator.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <thread>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace pinwarden::testing {
namespace {

using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using cuda::detail::CudaToken;
using cuda::detail::StreamIdentity;

// A stream of device 1 that was made by others, and that the thread's current device 0 has nothing to do
// with.
struct Fixture : DoubleRuntime {
    Fixture() : DoubleRuntime(2) {
        driver.choose_device(1);
        REQUIRE(driver.calls().stream_create.function(&stream, 0) == cudaSuccess);
        driver.choose_device(0);
        driver.forget_calls();
    }
    ~Fixture() { CHECK(driver.violations().empty()); }

    [[nodiscard]] std::unique_ptr<CudaToken> token() {
        return std::make_unique<CudaToken>(runtime, 1, stream, identity);
    }

    cudaStream_t stream = nullptr;
    std::shared_ptr<StreamIdentity> identity = std::make_shared<StreamIdentity>(77, "copies");
};

TEST_CASE("A token is an event of its own, recorded at once on the stream's device", "[cuda]") {
    Fixture cuda;
    const auto first = cuda.token();
    const auto second = cuda.token();
    const auto made = cuda.driver.made("cudaEventCreateWithFlags");
    REQUIRE(made.size() == 2);
    CHECK(made[0].device == 1);
    CHECK(made[0].flags == cudaEventDisableTiming);
    const auto recorded = cuda.driver.made("cudaEventRecord");
    REQUIRE(recorded.size() == 2);
    CHECK(recorded[0].object != recorded[1].object);
    CHECK(cuda.driver.current_device() == 0);
    CHECK(first->queue() == 77);
    CHECK(first->queue_name() == "copies");
}

TEST_CASE("A token is complete once the work ahead of it is, asks no more then, and frees its event once",
          "[cuda]") {
    Fixture cuda;
    cuda.driver.hold(cuda.stream);
    {
        const auto token = cuda.token();
        CHECK_FALSE(token->is_complete());
        CHECK_FALSE(token->wait_for(2ms));
        CHECK(cuda.driver.last_error() == cudaSuccess);
        cuda.driver.release(cuda.stream);
        CHECK(token->is_complete());
        const std::size_t asked = cuda.driver.count("cudaEventQuery");
        CHECK(token->is_complete());
        CHECK(token->wait_for(0ns));
        CHECK(cuda.driver.count("cudaEventQuery") == asked);
    }
    CHECK(cuda.driver.count("cudaEventDestroy") == 1);
    CHECK(cuda.driver.outstanding().size() == 1);  // the stream
    CHECK(cuda.driver.current_device() == 0);
}

TEST_CASE("A wait ends when the work does, and any length of it is allowed", "[cuda]") {
    Fixture cuda;
    cuda.driver.hold(cuda.stream);
    const auto token = cuda.token();
    CHECK_FALSE(token->wait_for(-1s));
    std::thread later([&] {
        std::this_thread::sleep_for(20ms);
        cuda.driver.release(cuda.stream);
    });
    CHECK(token->wait_for(std::chrono::nanoseconds::max()));
    later.join();
}

TEST_CASE("An event that cannot be made or recorded is an error that leaves nothing behind", "[cuda]") {
    const cudaError_t code = GENERATE(cudaErrorMemoryAllocation, cudaErrorInvalidResourceHandle,
                                      cudaErrorLaunchFailure, cudaErrorCudartUnloading);
    // get, set, create, restore; get, set, record, restore: the two restores are reported, not thrown.
    const std::size_t nth = GENERATE(1u, 2u, 3u, 5u, 6u, 7u);
    ReleaseFailureLog failures;
    Fixture cuda;
    cuda.driver.fail_any(code, nth);
    CHECK_THROWS_MATCHES(cuda.token(), AcceleratorError,
                         MessageMatches(ContainsSubstring("'copies'") && ContainsSubstring("cuda:1") &&
                                        ContainsSubstring("(" + std::to_string(code) + ")")));
    CHECK(cuda.driver.stop_failing());
    CHECK(cuda.driver.outstanding().size() == 1);  // the stream
    CHECK(cuda.driver.last_error() == cudaSuccess);
    CHECK(cuda.driver.current_device() == 0);
}

TEST_CASE("An event that cannot be queried never counts as complete, and is reported once for its stream",
          "[cuda]") {
    const cudaError_t code =
        GENERATE(cudaErrorInvalidResourceHandle, cudaErrorIllegalAddress, cudaErrorUnknown);
    ReleaseFailureLog failures;
    Fixture cuda;
    const auto first = cuda.token();
    const auto second = cuda.token();
    cuda.driver.fail_all(code);
    for (const auto* token : {first.get(), second.get(), first.get()}) {
        CHECK_FALSE(token->is_complete());
        CHECK_FALSE(token->wait_for(1ms));
    }
    REQUIRE(failures.texts().size() == 1);
    CHECK_THAT(failures.texts().front(),
               ContainsSubstring("'copies'") && ContainsSubstring(std::to_string(code)));
    cuda.driver.stop_failing();
    CHECK(first->is_complete());  // nothing is held against it afterwards
}

TEST_CASE("A token of an unloading runtime is complete, and its event is left alone", "[cuda]") {
    Fixture cuda;
    cuda.driver.hold(cuda.stream);
    auto token = cuda.token();
    SECTION("the runtime says so") {
        cuda.driver.fail_all(GENERATE(cudaErrorCudartUnloading, cudaErrorContextIsDestroyed));
        CHECK(token->is_complete());
        token.reset();
    }
    SECTION("exit has begun") {
        cuda.driver.forget_calls();
        cuda.gate.close(cuda::detail::ProcessGate::State::exiting);
        CHECK(token->wait_for(0ns));
        token.reset();
        CHECK(cuda.driver.made().empty());
    }
}

TEST_CASE("An event that cannot be destroyed is reported", "[cuda]") {
    ReleaseFailureLog failures;
    Fixture cuda;
    auto token = cuda.token();
    cuda.driver.fail("cudaEventDestroy", cudaErrorInvalidResourceHandle);
    token.reset();
    CHECK(failures.texts().size() == 1);
}

}  // namespace
}  // namespace pinwarden::testing
