// SPDX-License-Identifier: Apache-2.0
#include "cuda/chunked_registration.hpp"

#include <support/cuda/double_runtime.hpp>

#include <cerrno>
#include <cstdint>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace pinwarden::testing {
namespace {

using Catch::Matchers::ContainsSubstring;
using cuda::detail::ChunkedRegistration;
using cuda::detail::PageRange;

constexpr std::size_t gib = std::size_t{1} << 30;

// Addresses that nobody touches: neither the double nor the function below looks behind them.
std::byte* somewhere() { return reinterpret_cast<std::byte*>(std::uintptr_t{0x7000'0000'0000}); }

struct Advice {
    std::uintptr_t address;
    std::size_t bytes;
    int advice;
    friend bool operator==(const Advice&, const Advice&) = default;
};

std::vector<Advice> given;
int advice_error = 0;

int advise(void* address, std::size_t bytes, int advice) noexcept {
    given.push_back({reinterpret_cast<std::uintptr_t>(address), bytes, advice});
    errno = advice_error;
    return advice_error == 0 ? 0 : -1;
}

struct Fixture : DoubleRuntime {
    explicit Fixture(int devices = 1) : DoubleRuntime(devices) {
        given.clear();
        advice_error = 0;
    }
    ~Fixture() { CHECK(driver.violations().empty()); }

    ChunkedRegistration registration{runtime, advise};
};

Advice advice_for(PageRange pages, int advice) {
    return {reinterpret_cast<std::uintptr_t>(pages.first), pages.length, advice};
}

TEST_CASE("Trap 14: a large range is registered portably in chunks of a gibibyte and taken back by their addresses",
          "[cuda]") {
    Fixture cuda;
    const PageRange pages{somewhere(), 2 * gib + 4096};
    REQUIRE_FALSE(cuda.registration.add(pages, pages));
    const auto made = cuda.driver.made("cudaHostRegister");
    REQUIRE(made.size() == 3);
    const auto first = reinterpret_cast<std::uintptr_t>(pages.first);
    for (std::size_t chunk = 0; chunk < 3; ++chunk) {
        CHECK(made[chunk].object == first + chunk * gib);
        CHECK(made[chunk].bytes == (chunk < 2 ? gib : 4096));
        CHECK(made[chunk].flags == cudaHostRegisterPortable);
    }
    CHECK(cuda.registration.remove(pages, pages).status == UnpinStatus::done);
    const auto undone = cuda.driver.made("cudaHostUnregister");
    REQUIRE(undone.size() == 3);
    for (std::size_t chunk = 0; chunk < 3; ++chunk) CHECK(undone[chunk].object == first + chunk * gib);
    CHECK(cuda.driver.outstanding().empty());
}

TEST_CASE("The cuts of a registration are known while it lasts", "[cuda]") {
    Fixture cuda;
    const PageRange pages{somewhere(), 2 * gib + 4096};
    const auto& ranges = cuda.runtime.chunked_ranges();
    const auto whole = [&] { return ranges.in_one_piece(pages.first, pages.length); };
    CHECK(whole() == pages.length);
    REQUIRE_FALSE(cuda.registration.add(pages, pages));
    CHECK(whole() == gib);
    CHECK(cuda.registration.remove(pages, pages).status == UnpinStatus::done);
    CHECK(whole() == pages.length);
    cuda.driver.fail("cudaHostRegister", cudaErrorMemoryAllocation, 3);
    REQUIRE(cuda.registration.add(pages, pages));
    CHECK(whole() == pages.length);
}

TEST_CASE("No chunk is larger than a gibibyte", "[cuda]") {
    Fixture cuda;
    const std::size_t length = GENERATE(std::size_t{4096}, gib - 4096, gib, gib + 4096, 4 * gib);
    const PageRange pages{somewhere(), length};
    REQUIRE_FALSE(cuda.registration.add(pages, pages));
    std::size_t total = 0;
    for (const auto& call : cuda.driver.made("cudaHostRegister")) {
        CHECK(call.bytes > 0);
        CHECK(call.bytes <= gib);
        total += call.bytes;
    }
    CHECK(total == length);
    CHECK(cuda.driver.count("cudaHostRegister") == (length + gib - 1) / gib);
    CHECK(cuda.registration.remove(pages, pages).status == UnpinStatus::done);
}

TEST_CASE("Trap 14: a refusal at any chunk takes all earlier ones back", "[cuda]") {
    const std::size_t refused = GENERATE(range(std::size_t{1}, std::size_t{6}));
    Fixture cuda;
    const PageRange pages{somewhere(), 5 * gib};
    cuda.driver.fail("cudaHostRegister", cudaErrorMemoryAllocation, refused);
    const auto refusal = cuda.registration.add(pages, pages);
    REQUIRE(refusal);
    CHECK_FALSE(refusal->is_stuck());
    CHECK(refusal->code == cudaErrorMemoryAllocation);
    CHECK(refusal->range.first == pages.first + (refused - 1) * gib);
    CHECK(refusal->range.length == gib);
    CHECK_THAT(cuda.registration.call_text(*refusal), ContainsSubstring("cudaHostRegister(0x"));
    CHECK_THAT(cuda.registration.answer_text(*refusal), ContainsSubstring("cudaErrorMemoryAllocation (2)"));
    CHECK(cuda.driver.count("cudaHostUnregister") == refused - 1);
    CHECK(cuda.driver.outstanding().empty());
    CHECK(given == std::vector{advice_for(pages, MADV_DONTFORK), advice_for(pages, MADV_DOFORK)});
    CHECK(cuda.driver.last_error() == cudaSuccess);
}

TEST_CASE("A chunk that cannot be taken back during a rollback makes the refusal stuck, and the others are",
          "[cuda]") {
    const std::size_t stuck = GENERATE(range(std::size_t{1}, std::size_t{4}));
    Fixture cuda;
    const PageRange pages{somewhere(), 4 * gib};
    cuda.driver.fail("cudaHostRegister", cudaErrorUnknown, 4);
    static std::size_t failing = 0;
    failing = stuck;
    auto calls = cuda.driver.calls();
    static auto unregister = calls.host_unregister.function;
    static std::size_t undone = 0;
    undone = 0;
    calls.host_unregister.function = [](void* address) -> cudaError_t {
        if (++undone == failing) return cudaErrorUnknown;
        return unregister(address);
    };
    const cuda::detail::Runtime runtime(calls, cuda.gate);
    const ChunkedRegistration registration(runtime, advise);
    const auto refusal = registration.add(pages, pages);
    REQUIRE(refusal);
    CHECK(refusal->is_stuck());
    CHECK(undone == 3);
    CHECK(cuda.driver.outstanding().size() == 1);
    CHECK_THAT(registration.answer_text(*refusal), ContainsSubstring("could not be taken back"));
    CHECK(given == std::vector{advice_for(pages, MADV_DONTFORK)});  // children never get them
}

TEST_CASE("Pages that children might inherit are not registered", "[cuda]") {
    Fixture cuda;
    const PageRange pages{somewhere(), gib};
    advice_error = ENOMEM;
    const auto refusal = cuda.registration.add(pages, {pages.first, 4096});
    REQUIRE(refusal);
    CHECK_FALSE(refusal->is_stuck());
    CHECK_THAT(cuda.registration.call_text(*refusal),
               ContainsSubstring("madvise(") && ContainsSubstring("4096"));
    CHECK_THAT(cuda.registration.answer_text(*refusal), ContainsSubstring("ENOMEM"));
    CHECK(cuda.driver.made().empty());
}

TEST_CASE("Children get the pages back when the registration ends, and no advice is given for none",
          "[cuda]") {
    Fixture cuda;
    const PageRange pages{somewhere(), 3 * 4096};
    const PageRange inner{somewhere() + 4096, 4096};
    REQUIRE_FALSE(cuda.registration.add(pages, inner));
    CHECK(cuda.registration.remove(pages, inner).status == UnpinStatus::done);
    CHECK(given == std::vector{advice_for(inner, MADV_DONTFORK), advice_for(inner, MADV_DOFORK)});
    given.clear();
    REQUIRE_FALSE(cuda.registration.add(pages, {pages.first, 0}));
    CHECK(cuda.registration.remove(pages, {pages.first, 0}).status == UnpinStatus::done);
    CHECK(given.empty());
}

TEST_CASE("Taking back goes on behind a chunk that fails and answers the first failure", "[cuda]") {
    const std::size_t failing = GENERATE(range(std::size_t{1}, std::size_t{4}));
    Fixture cuda;
    const PageRange pages{somewhere(), 3 * gib};
    REQUIRE_FALSE(cuda.registration.add(pages, pages));
    cuda.driver.fail("cudaHostUnregister", cudaErrorHostMemoryNotRegistered, failing);
    const UnpinAnswer answer = cuda.registration.remove(pages, pages);
    CHECK(answer.status == UnpinStatus::failed);
    CHECK(answer.code == cudaErrorHostMemoryNotRegistered);
    CHECK(cuda.driver.count("cudaHostUnregister") == 3);
    CHECK(cuda.driver.outstanding().size() == 1);
    CHECK(given == std::vector{advice_for(pages, MADV_DONTFORK)});
}

TEST_CASE("A registration whose runtime is unloading is left to it", "[cuda]") {
    Fixture cuda;
    const PageRange pages{somewhere(), 3 * gib};
    REQUIRE_FALSE(cuda.registration.add(pages, pages));
    SECTION("the runtime says so") {
        cuda.driver.fail_all(GENERATE(cudaErrorCudartUnloading, cudaErrorContextIsDestroyed));
        CHECK(cuda.registration.remove(pages, pages).status == UnpinStatus::unloading);
    }
    SECTION("exit has begun") {
        cuda.driver.forget_calls();
        cuda.gate.close(cuda::detail::ProcessGate::State::exiting);
        CHECK(cuda.registration.remove(pages, pages).status == UnpinStatus::unloading);
        CHECK(cuda.driver.made().empty());
    }
}

TEST_CASE("Registrations are made in the home device's context from any thread's device", "[cuda]") {
    Fixture cuda(2);
    cuda.runtime.offer_home(1);
    const PageRange pages{somewhere(), 2 * gib};
    REQUIRE_FALSE(cuda.registration.add(pages, pages));
    CHECK(cuda.registration.remove(pages, pages).status == UnpinStatus::done);
    for (const char* name : {"cudaHostRegister", "cudaHostUnregister"}) {
        for (const auto& call : cuda.driver.made(name)) CHECK(call.device == 1);
    }
    CHECK(cuda.driver.current_device() == 0);
}

}  // namespace
}  // namespace pinwarden::testing
