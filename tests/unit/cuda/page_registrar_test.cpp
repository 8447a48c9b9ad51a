// SPDX-License-Identifier: Apache-2.0
#include "cuda/page_registrar.hpp"

#include "backend/native_pages.hpp"

#include <support/audit_state.hpp>
#include <support/cuda/double_runtime.hpp>
#include <support/release_failure_log.hpp>

#include <pinwarden/audit/registry.hpp>
#include <pinwarden/backend/native_backend.hpp>
#include <pinwarden/core/bytes.hpp>
#include <pinwarden/core/error.hpp>
#include <pinwarden/core/process_memory.hpp>
#include <pinwarden/own/pinned_buffer.hpp>
#include <pinwarden/own/pinned_registration.hpp>

#include <array>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <sys/mman.h>

namespace pinwarden::testing {
namespace {

using Catch::Matchers::ContainsSubstring;
using cuda::Availability;
using cuda::detail::ChunkedRegistration;
using cuda::detail::PageRegistrar;

// Whether the kernel keeps the mapping that holds `address` from children: `dc` among its flags.
bool is_kept_from_children(const void* address) {
    std::ifstream maps("/proc/self/smaps");
    bool is_inside = false;
    for (std::string line; std::getline(maps, line);) {
        std::uintptr_t first = 0;
        std::uintptr_t last = 0;
        if (std::sscanf(line.c_str(), "%lx-%lx ", &first, &last) == 2) {
            const auto wanted = reinterpret_cast<std::uintptr_t>(address);
            is_inside = first <= wanted && wanted < last;
        } else if (is_inside && line.starts_with("VmFlags:")) {
            return line.find(" dc") != std::string::npos;
        }
    }
    return false;
}

// The native backend over the kernel's own calls and a registrar over the double.
struct Fixture : DoubleRuntime {
    explicit Fixture(Availability found = {.devices = 1, .reason = {}})
        : availability(std::move(found)),
          registrar(ChunkedRegistration(runtime), [this]() -> const Availability& {
              ++asked;
              return availability;
          }) {}
    ~Fixture() { CHECK(driver.violations().empty()); }

    [[nodiscard]] PinOptions options() const { return {.backend = backend}; }

    std::size_t asked = 0;
    Availability availability;
    PageRegistrar registrar;
    std::shared_ptr<detail::NativePages> backend =
        std::make_shared<detail::NativePages>(detail::kernel_calls(), &registrar);
};

TEST_CASE("A native block is registered with the devices before its use and until its release", "[cuda]") {
    Fixture cuda;
    const std::size_t before = kernel_locked_bytes();
    {
        const PinnedBuffer<std::byte> buffer(10'000, cuda.options());
        CHECK(buffer.is_device_pinned());
        CHECK(kernel_locked_bytes() == before + buffer.locked_bytes());
        const auto made = cuda.driver.made("cudaHostRegister");
        REQUIRE(made.size() == 1);
        CHECK(made.front().object == reinterpret_cast<std::uintptr_t>(buffer.data()));
        CHECK(made.front().bytes == buffer.locked_bytes());
        CHECK(made.front().flags == cudaHostRegisterPortable);
        CHECK(is_kept_from_children(buffer.data()));
    }
    CHECK(cuda.driver.count("cudaHostUnregister") == 1);
    CHECK(cuda.driver.outstanding().empty());
    CHECK(kernel_locked_bytes() == before);
    CHECK(cuda.registrar.status().registered == 1);
    CHECK(cuda.registrar.status().refused == 0);
}

TEST_CASE("A block whose registration is refused is a pin all the same, and says what it is not", "[cuda]") {
    const cudaError_t code = GENERATE(cudaErrorMemoryAllocation, cudaErrorNotSupported, cudaErrorUnknown,
                                      cudaErrorHostMemoryAlreadyRegistered, cudaErrorCudartUnloading);
    for (std::size_t nth = 1;; ++nth) {
        Fixture cuda;
        cuda.driver.fail_any(code, nth);
        const std::size_t before = kernel_locked_bytes();
        bool was_reached = false;
        {
            const PinnedBuffer<std::byte> buffer(10'000, cuda.options());
            was_reached = cuda.driver.stop_failing();
            CHECK(buffer.is_pinned());
            CHECK(kernel_locked_bytes() == before + buffer.locked_bytes());
            const bool is_registered = cuda.driver.outstanding().size() == 1;
            CHECK(buffer.is_device_pinned() == is_registered);
            CHECK(is_kept_from_children(buffer.data()) == is_registered);
            if (!is_registered) {
                CHECK(cuda.registrar.status().refused == 1);
                CHECK_THAT(cuda.registrar.status().last_refusal,
                           ContainsSubstring("(" + std::to_string(code) + ")"));
            }
        }
        CHECK(cuda.driver.outstanding().empty());
        CHECK(kernel_locked_bytes() == before);
        CHECK(cuda.driver.last_error() == cudaSuccess);
        if (!was_reached) break;
    }
}

TEST_CASE("Without a device the runtime is not called, and the reason is kept", "[cuda]") {
    Fixture cuda({.devices = 0, .reason = "nobody answers"});
    CHECK(cuda.registrar.status().last_refusal.empty());
    CHECK(cuda.asked == 0);
    const PinnedBuffer<int> buffer(10, cuda.options());
    CHECK(buffer.is_pinned());
    CHECK_FALSE(buffer.is_device_pinned());
    CHECK(cuda.driver.made().empty());
    CHECK(cuda.registrar.status().last_refusal == "nobody answers");
    CHECK(cuda.registrar.status().refused == 0);
}

TEST_CASE("A block that cannot be unregistered stays mapped and locked, quarantined", "[cuda]") {
    ReleaseFailureLog failures;
    const auto before = audit::Registry::instance().counts().quarantined.pins;
    const std::size_t locked = kernel_locked_bytes();
    Fixture cuda;
    const std::byte* memory = nullptr;
    {
        PinnedBuffer<std::byte> buffer(5000, cuda.options());
        buffer.data()[4999] = std::byte{42};
        memory = buffer.data();
        cuda.driver.fail("cudaHostUnregister", cudaErrorLaunchFailure);
    }
    CHECK(memory[4999] == std::byte{42});
    CHECK(kernel_locked_bytes() == locked + 2 * page_bytes());
    CHECK(audit::Registry::instance().counts().quarantined.pins == before + 1);
    REQUIRE(failures.texts().size() == 1);
    CHECK_THAT(failures.texts().front(), ContainsSubstring("cudaHostUnregister") && ContainsSubstring("719"));
}

TEST_CASE("A block of an unloading runtime is unlocked and stays mapped", "[cuda]") {
    const auto before = audit::Registry::instance().counts().left_to_system.pins;
    const std::size_t locked = kernel_locked_bytes();
    Fixture cuda;
    const std::byte* memory = nullptr;
    {
        PinnedBuffer<std::byte> buffer(5000, cuda.options());
        buffer.data()[0] = std::byte{42};
        memory = buffer.data();
        cuda.gate.close(cuda::detail::ProcessGate::State::exiting);
    }
    CHECK(memory[0] == std::byte{42});
    CHECK(kernel_locked_bytes() == locked);
    CHECK(audit::Registry::instance().counts().left_to_system.pins == before + 1);
}

TEST_CASE("Memory of others is registered too, and children lose only the pages that are wholly its own",
          "[cuda]") {
    Fixture cuda;
    void* const mapped =
        ::mmap(nullptr, 4 * page_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(mapped != MAP_FAILED);
    auto* const pages = static_cast<std::byte*>(mapped);
    {
        const PinnedRegistration pinned(gsl::span<std::byte>(pages + 100, 2 * page_bytes()), cuda.options());
        CHECK(pinned.is_device_pinned());
        const auto made = cuda.driver.made("cudaHostRegister");
        REQUIRE(made.size() == 1);
        CHECK(made.front().object == reinterpret_cast<std::uintptr_t>(pages));
        CHECK(made.front().bytes == 3 * page_bytes());
        CHECK_FALSE(is_kept_from_children(pages));
        CHECK(is_kept_from_children(pages + page_bytes()));
        CHECK_FALSE(is_kept_from_children(pages + 2 * page_bytes()));
    }
    CHECK_FALSE(is_kept_from_children(pages + page_bytes()));
    CHECK(cuda.driver.outstanding().empty());
    ::munmap(mapped, 4 * page_bytes());
}

TEST_CASE("A registration that is refused half-way and cannot be undone is never freed", "[cuda]") {
    ReleaseFailureLog failures;
    DoubleRuntime cuda;
    auto calls = cuda.driver.calls();
    // Both fail for every page but the first, so that a rollback is needed and fails; nothing here is a
    // gibibyte.
    calls.host_register.function = [](void*, std::size_t, unsigned) {
        static int made = 0;
        return made++ == 0 ? cudaSuccess : cudaErrorUnknown;
    };
    calls.host_unregister.function = [](void*) { return cudaErrorUnknown; };
    const cuda::detail::Runtime runtime(calls, cuda.gate);
    const Availability one{.devices = 1, .reason = {}};
    PageRegistrar registrar(ChunkedRegistration(runtime, [](void*, std::size_t, int) noexcept { return 0; }),
                            [&]() -> const Availability& { return one; });
    auto* const somewhere = reinterpret_cast<std::byte*>(std::uintptr_t{0x7000'0000'0000});
    const detail::PageRange pages{somewhere, 2 * ChunkedRegistration::chunk_bytes};
    CHECK(registrar.register_pages(pages, pages) == detail::DeviceRegistrar::Outcome::stuck);
    REQUIRE(failures.texts().size() == 1);
    CHECK_THAT(failures.texts().front(), ContainsSubstring("could not be taken back"));
    CHECK(registrar.status().refused == 1);
}

TEST_CASE("A native block whose registration is stuck is refused and its pages stay", "[cuda]") {
    struct Stuck final : detail::DeviceRegistrar {
        Outcome register_pages(detail::PageRange pages, detail::PageRange) noexcept override {
            seen = pages;
            return Outcome::stuck;
        }
        UnpinAnswer unregister_pages(detail::PageRange, detail::PageRange) noexcept override { return {}; }
        DeviceRegistrationStatus status() const override { return {.last_refusal = "the driver is stuck"}; }
        detail::PageRange seen{};
    } registrar;
    detail::NativePages backend(detail::kernel_calls(), &registrar);
    const std::size_t before = kernel_locked_bytes();
    try {
        static_cast<void>(backend.allocate(100));
        FAIL("the block was handed out");
    } catch (const PinError& error) {
        CHECK_THAT(error.what(), ContainsSubstring("the driver is stuck"));
    }
    CHECK(kernel_locked_bytes() == before + page_bytes());
    registrar.seen.first[0] = std::byte{1};  // still mapped
    CHECK(::munmap(registrar.seen.first, registrar.seen.length) == 0);
}

TEST_CASE("A registration that cannot be undone is quarantined, and its pages stay claimed", "[cuda]") {
    struct Stuck final : detail::DeviceRegistrar {
        Outcome register_pages(detail::PageRange, detail::PageRange) noexcept override { return Outcome::stuck; }
        UnpinAnswer unregister_pages(detail::PageRange, detail::PageRange) noexcept override { return {}; }
        DeviceRegistrationStatus status() const override { return {.last_refusal = "the driver is stuck"}; }
    };
    static Stuck registrar;
    const auto backend = std::make_shared<detail::NativePages>(detail::kernel_calls(), &registrar);
    static std::array<std::byte, 8192> memory;  // part of it stays locked for good
    const auto before = AuditState::now();
    CHECK_THROWS_AS(PinnedRegistration(gsl::span<std::byte>(memory), {.backend = backend, .label = "stuck"}), PinError);
    const auto after = AuditState::now();
    CHECK(after.counts.quarantined.pins == before.counts.quarantined.pins + 1);
    CHECK(after.counts.live == before.counts.live);
    CHECK(after.counts.locked_bytes() - before.counts.locked_bytes() ==
          after.kernel_locked_bytes - before.kernel_locked_bytes);
    CHECK_THROWS_AS(PinnedRegistration(gsl::span<std::byte>(memory).first(10), {.backend = native_backend()}),
                    OverlapError);
}

}  // namespace
}  // namespace pinwarden::testing
