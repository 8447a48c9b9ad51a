// SPDX-License-Identifier: Apache-2.0
#include "cuda/host_backend.hpp"

#include <support/cuda/double_runtime.hpp>
#include <support/release_failure_log.hpp>

#include <pinwarden/audit/registry.hpp>
#include <pinwarden/core/bytes.hpp>
#include <pinwarden/core/error.hpp>
#include <pinwarden/own/pinned_buffer.hpp>
#include <pinwarden/own/pinned_registration.hpp>

#include <cstdint>
#include <memory>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace pinwarden::testing {
namespace {

using audit::Registry;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using cuda::detail::ChunkedRegistration;
using cuda::detail::HostBackend;

int advise_nothing(void*, std::size_t, int) noexcept { return 0; }

struct Fixture : DoubleRuntime {
    explicit Fixture(int devices = 1) : DoubleRuntime(devices) {}
    ~Fixture() { CHECK(driver.violations().empty()); }

    std::shared_ptr<HostBackend> backend =
        std::make_shared<HostBackend>(runtime, ChunkedRegistration(runtime, advise_nothing));
};

TEST_CASE("Host memory is portable, whole pages, of the size asked for, and given back once", "[cuda]") {
    Fixture cuda;
    const std::size_t bytes =
        GENERATE(std::size_t{1}, std::size_t{4095}, std::size_t{4096}, std::size_t{100'001});
    const HostBlock block = cuda.backend->allocate(bytes);
    CHECK(reinterpret_cast<std::uintptr_t>(block.address) % page_bytes() == 0);
    CHECK(block.bytes == bytes);
    CHECK(block.locked_bytes == round_up(bytes, page_bytes()));
    CHECK(cuda.backend->is_device_pinned(block));
    const auto made = cuda.driver.made("cudaHostAlloc");
    REQUIRE(made.size() == 1);
    CHECK(made.front().flags == cudaHostAllocPortable);
    CHECK(made.front().bytes == block.locked_bytes);
    CHECK(cuda.backend->deallocate(block).status == UnpinStatus::done);
    CHECK(cuda.driver.count("cudaFreeHost") == 1);
    CHECK(cuda.driver.outstanding().empty());
}

TEST_CASE("A block starts with a page even where the runtime's memory does not", "[cuda]") {
    Fixture cuda;
    cuda.driver.set_host_offset(512);
    std::vector<HostBlock> blocks;
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{4096}, std::size_t{9000}}) {
        blocks.push_back(cuda.backend->allocate(bytes));
        const HostBlock& block = blocks.back();
        CHECK(reinterpret_cast<std::uintptr_t>(block.address) % page_bytes() == 0);
        CHECK(block.locked_bytes == round_up(bytes, page_bytes()) + page_bytes());
        std::fill_n(block.address, round_up(bytes, page_bytes()), std::byte{7});  // all of it is ours
    }
    CHECK(cuda.driver.outstanding().size() == 3);
    for (const HostBlock& block : blocks) CHECK(cuda.backend->deallocate(block).status == UnpinStatus::done);
    CHECK(cuda.driver.outstanding().empty());
}

TEST_CASE("A misaligned first try that cannot be freed is reported and its memory kept", "[cuda]") {
    Fixture cuda;
    ReleaseFailureLog failures;
    cuda.driver.set_host_offset(512);
    cuda.driver.fail("cudaFreeHost", cudaErrorInvalidValue);
    const HostBlock block = cuda.backend->allocate(10);
    CHECK(failures.texts().size() == 1);
    CHECK(cuda.backend->deallocate(block).status == UnpinStatus::done);
    CHECK(cuda.driver.outstanding().size() == 1);
}

TEST_CASE("Every failure of any call made to allocate is a pin error that leaves nothing behind", "[cuda]") {
    const std::size_t offset = GENERATE(std::size_t{0}, std::size_t{512});
    const cudaError_t code =
        GENERATE(cudaErrorMemoryAllocation, cudaErrorInsufficientDriver, cudaErrorNoDevice,
                 cudaErrorInitializationError, cudaErrorCudartUnloading, cudaErrorUnknown);
    ReleaseFailureLog failures;
    for (std::size_t nth = 1;; ++nth) {
        Fixture cuda(2);
        cuda.driver.set_host_offset(offset);
        cuda.runtime.offer_home(1);
        cuda.driver.fail_any(code, nth);
        try {
            const HostBlock block = cuda.backend->allocate(5000);
            const bool was_reached = cuda.driver.stop_failing();
            CHECK(cuda.backend->deallocate(block).status == UnpinStatus::done);
            if (!was_reached) {
                CHECK(nth > (offset == 0 ? 4u : 12u));
                break;
            }
        } catch (const PinError& error) {
            CHECK(error.refusal().code == code);
            CHECK(error.refusal().backend == "cuda");
            CHECK(error.refusal().bytes_asked == 5000);
            CHECK_THAT(error.refusal().call, ContainsSubstring("portable"));
            CHECK_THAT(error.refusal().answer, ContainsSubstring("(" + std::to_string(code) + ")"));
            CHECK_FALSE(error.refusal().advice.empty());
            CHECK(cuda.driver.outstanding().empty());
        }
        CHECK(cuda.driver.last_error() == cudaSuccess);
    }
}

TEST_CASE("Trap 5: a failed free is quarantined with the error, and an unloading runtime keeps the memory",
          "[cuda]") {
    ReleaseFailureLog failures;
    const auto& registry = Registry::instance();
    const auto before = registry.counts();
    Fixture cuda;
    SECTION("failed") {
        const cudaError_t code = GENERATE(cudaErrorInvalidValue, cudaErrorIllegalAddress,
                                          cudaErrorLaunchFailure, cudaErrorUnknown, cudaErrorNoDevice);
        {
            const PinnedBuffer<int> buffer(100, {.backend = cuda.backend, .label = "kept"});
            CHECK(buffer.is_device_pinned());
            cuda.driver.fail("cudaFreeHost", code);
        }
        CHECK(registry.counts().quarantined.pins == before.quarantined.pins + 1);
        REQUIRE(failures.texts().size() == 1);
        CHECK_THAT(failures.texts().front(),
                   ContainsSubstring("cudaFreeHost") && ContainsSubstring("error " + std::to_string(code)));
        CHECK(cuda.driver.outstanding().size() == 1);
    }
    SECTION("unloading") {
        const cudaError_t code = GENERATE(cudaErrorCudartUnloading, cudaErrorContextIsDestroyed);
        {
            const PinnedBuffer<int> buffer(100, {.backend = cuda.backend});
            cuda.driver.fail_all(code);
        }
        CHECK(registry.counts().left_to_system.pins == before.left_to_system.pins + 1);
        CHECK(failures.texts().empty());
    }
    SECTION("exit has begun") {
        {
            const PinnedBuffer<int> buffer(100, {.backend = cuda.backend});
            cuda.driver.forget_calls();
            cuda.gate.close(cuda::detail::ProcessGate::State::exiting);
        }
        CHECK(registry.counts().left_to_system.pins == before.left_to_system.pins + 1);
        CHECK(cuda.driver.made().empty());
    }
    CHECK(registry.counts().live == before.live);
}

// What the runtime answers to a free inside one of its callbacks, which only foreign code can bring about.
TEST_CASE("Trap 3: a free that a stream's callback does not permit is quarantined and said, not lost", "[cuda]") {
    ReleaseFailureLog failures;
    const auto before = Registry::instance().counts();
    Fixture cuda;
    {
        const PinnedBuffer<int> buffer(100, {.backend = cuda.backend, .label = "dropped in a callback"});
        cuda.driver.fail("cudaFreeHost", cudaErrorNotPermitted);
    }
    CHECK(Registry::instance().counts().quarantined.pins == before.quarantined.pins + 1);
    CHECK(Registry::instance().counts().live == before.live);
    REQUIRE(failures.texts().size() == 1);
    CHECK_THAT(failures.texts().front(), ContainsSubstring("cudaFreeHost") && ContainsSubstring("error 800"));
    CHECK(cuda.driver.last_error() == cudaSuccess);
}

TEST_CASE("Memory of others is registered in whole pages and taken back", "[cuda]") {
    Fixture cuda;
    std::vector<std::byte> memory(5 * page_bytes());
    {
        const PinnedRegistration pinned(gsl::span<std::byte>(memory).subspan(10, 2 * page_bytes()),
                                        {.backend = cuda.backend});
        CHECK(pinned.is_device_pinned());
        const auto made = cuda.driver.made("cudaHostRegister");
        REQUIRE(made.size() == 1);
        CHECK(made.front().object % page_bytes() == 0);
        CHECK(made.front().bytes % page_bytes() == 0);
        CHECK(made.front().bytes >= 2 * page_bytes());
    }
    CHECK(cuda.driver.count("cudaHostUnregister") == 1);
    CHECK(cuda.driver.outstanding().empty());
}

TEST_CASE("Trap 9: memory that other code has registered is not taken for ours", "[cuda]") {
    Fixture cuda;
    std::vector<std::byte> memory(5 * page_bytes());
    auto* const page =
        reinterpret_cast<void*>(round_up(reinterpret_cast<std::uintptr_t>(memory.data()), page_bytes()));
    REQUIRE(cuda.driver.calls().host_register.function(page, page_bytes(), 0) == cudaSuccess);
    CHECK_THROWS_MATCHES(PinnedRegistration(gsl::span<std::byte>(memory), {.backend = cuda.backend}),
                         PinError,
                         MessageMatches(ContainsSubstring("cudaErrorHostMemoryAlreadyRegistered (712)")));
    CHECK(cuda.driver.count("cudaHostUnregister") == 0);
    CHECK(cuda.driver.outstanding().size() == 1);
}

TEST_CASE("Trap 15: pins are made in one context, whatever device a thread has chosen", "[cuda]") {
    Fixture cuda(2);
    cuda.runtime.offer_home(1);
    { const PinnedBuffer<char> buffer(10, {.backend = cuda.backend}); }
    CHECK(cuda.driver.made("cudaHostAlloc").at(0).device == 1);
    CHECK(cuda.driver.made("cudaFreeHost").at(0).device == 1);
    CHECK(cuda.driver.current_device() == 0);
}

TEST_CASE("A size that cannot be is refused before the runtime is asked", "[cuda]") {
    Fixture cuda;
    CHECK_THROWS_AS(cuda.backend->allocate(SIZE_MAX), SizeError);
    CHECK_THROWS_AS(cuda.backend->allocate(SIZE_MAX / 2), PinError);  // more than the machine has
    CHECK(cuda.driver.count("cudaHostAlloc") == 0);
}

}  // namespace
}  // namespace pinwarden::testing
