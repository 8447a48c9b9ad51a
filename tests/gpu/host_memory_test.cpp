// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pinwarden/cuda.hpp>
#include <pinwarden/pinwarden.hpp>

namespace pinwarden::testing {

namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

void require_device() {
    if (cuda::availability().devices == 0) SKIP("no CUDA device: " << cuda::availability().reason);
}

// What the runtime itself says of an address.
cudaMemoryType type_of(const void* address) {
    cudaPointerAttributes attributes{};
    REQUIRE(cudaPointerGetAttributes(&attributes, address) == cudaSuccess);
    return attributes.type;
}

// Sends the elements to the device and fetches them back; answers how many came back wrong.
std::size_t wrong_after_round_trip(PinnedBuffer<std::uint64_t>& host, Stream& stream,
                                   const StreamPtr& owner) {
    std::iota(host.span().begin(), host.span().end(), std::uint64_t{17});
    DeviceBuffer<std::uint64_t> device(host.size(), owner);
    copy(host, device, stream);
    host.wait();
    std::fill(host.span().begin(), host.span().end(), std::uint64_t{0});
    copy(device, host, stream);
    host.wait();
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < host.size(); ++i) wrong += host.span()[i] != i + 17;
    return wrong;
}

}  // namespace

TEST_CASE("Both backends pin memory that the device reaches, and release it", "[gpu]") {
    require_device();
    const auto backend = GENERATE(from_range(std::vector{native_backend(), cuda::cuda_backend()}));
    INFO("backend " << backend->name());
    const auto before = audit::Registry::instance().counts();
    const auto stream = cuda::make_cuda_accelerator(0)->create_stream("round trip");
    // Small ones may share a page of the runtime's; the last has more than one chunk of a registration.
    const std::size_t bytes = GENERATE(std::size_t{8}, std::size_t{4096}, 3 * mib + 8, 1024 * mib + 8192);
    const void* address = nullptr;
    {
        PinnedBuffer<std::uint64_t> host(bytes / 8, {.backend = backend});
        address = host.data();
        CHECK(host.is_device_pinned());
        CHECK(reinterpret_cast<std::uintptr_t>(address) % page_bytes() == 0);
        CHECK(type_of(host.data()) == cudaMemoryTypeHost);
        CHECK(type_of(host.data() + host.size() - 1) == cudaMemoryTypeHost);
        CHECK(wrong_after_round_trip(host, *stream, stream) == 0);
    }
    CHECK(type_of(address) != cudaMemoryTypeDevice);
    if (backend->name() == "native") CHECK(type_of(address) == cudaMemoryTypeUnregistered);
    CHECK(audit::Registry::instance().counts() == before);
    CHECK(cudaPeekAtLastError() == cudaSuccess);
}

TEST_CASE("The default backend is cuda where a device answers", "[gpu]") {
    require_device();
    if (std::getenv("DS_PIN_MEMORY_BACKEND") == nullptr) CHECK(default_backend().backend->name() == "cuda");
}

TEST_CASE("The kernel and the audit agree on what native pins lock", "[gpu]") {
    require_device();
    const std::size_t before = kernel_locked_bytes();
    const PinnedBuffer<std::byte> native(5 * mib, {.backend = native_backend()});
    CHECK(kernel_locked_bytes() == before + native.locked_bytes());
    const PinnedBuffer<std::byte> drivers(5 * mib, {.backend = cuda::cuda_backend()});
    CHECK(kernel_locked_bytes() ==
          before + native.locked_bytes());  // the driver's own pages are not in VmLck
}

TEST_CASE("Memory of others is registered and taken back", "[gpu]") {
    require_device();
    const auto backend = GENERATE(from_range(std::vector{native_backend(), cuda::cuda_backend()}));
    INFO("backend " << backend->name());
    std::vector<std::uint64_t> memory(mib);
    {
        const PinnedRegistration pinned(gsl::span<std::uint64_t>(memory), {.backend = backend});
        CHECK(pinned.is_device_pinned());
        CHECK(type_of(memory.data()) == cudaMemoryTypeHost);
    }
    CHECK(type_of(memory.data()) == cudaMemoryTypeUnregistered);
}

TEST_CASE("A handle may be dropped while the device copies, and its memory outlives the copy", "[gpu]") {
    require_device();
    const auto backend = GENERATE(from_range(std::vector{native_backend(), cuda::cuda_backend()}));
    INFO("backend " << backend->name());
    const auto& registry = audit::Registry::instance();
    const auto stream = cuda::make_cuda_accelerator(0)->create_stream("dropped");
    DeviceBuffer<std::uint64_t> device(8 * mib, stream);
    for (int round = 0; round < 20; ++round) {
        PinnedBuffer<std::uint64_t> host(8 * mib, {.backend = backend});
        std::iota(host.span().begin(), host.span().end(), static_cast<std::uint64_t>(round));
        copy(host, device, *stream);
    }
    stream->synchronize();
    registry.collect();
    CHECK(registry.counts().in_flight.pins == 0);
    PinnedBuffer<std::uint64_t> back(8 * mib);
    copy(device, back, *stream);
    back.wait();
    CHECK(back.span()[0] == 19);
    CHECK(back.span()[back.size() - 1] == 19 + back.size() - 1);
}

TEST_CASE("Trap 13: a child of fork neither inherits registered pages nor calls the runtime", "[gpu]") {
    require_device();
    PinnedBuffer<int> host(mib, {.backend = native_backend()});
    CHECK(host.is_device_pinned());
    host.data()[0] = 5;
    const pid_t child = ::fork();
    if (child == 0) {
        unsigned char resident = 0;
        const bool is_gone = ::mincore(host.data(), page_bytes(), &resident) != 0;
        bool is_refused = false;
        try {
            const PinnedBuffer<int> more(10, {.backend = cuda::cuda_backend()});
        } catch (const PinError&) {
            is_refused = true;
        }
        std::_Exit(is_gone && is_refused ? 0 : 1);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
    CHECK(host.data()[0] == 5);
}

}  // namespace pinwarden::testing
