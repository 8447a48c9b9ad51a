// SPDX-License-Identifier: Apache-2.0
// What the audit costs: over a backend that does nothing, so that nothing else is timed.
#include <sys/mman.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <new>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include <pinwarden/accelerator/cpu_accelerator.hpp>
#include <pinwarden/audit/registry.hpp>
#include <pinwarden/backend/pin_backend.hpp>
#include <pinwarden/core/bytes.hpp>
#include <pinwarden/own/pinned_buffer.hpp>

#include "bench.hpp"
#include "comparison.hpp"

namespace pinwarden::bench {
namespace {

constexpr std::size_t live_pins = 1'000'000;

/// Hands out addresses, a page each, that nobody may touch, and takes any back.
class AddressBackend final : public PinBackend {
public:
    AddressBackend() {
        void* const mapped = ::mmap(nullptr, pages * page_bytes(), PROT_NONE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (mapped == MAP_FAILED) throw std::bad_alloc();
        first_ = static_cast<std::byte*>(mapped);
    }
    ~AddressBackend() override { ::munmap(first_, pages * page_bytes()); }

    [[nodiscard]] std::string_view name() const noexcept override { return "addresses"; }
    [[nodiscard]] bool pins() const noexcept override { return true; }
    [[nodiscard]] HostBlock allocate(std::size_t bytes) override {
        const std::size_t page = next_.fetch_add(1, std::memory_order_relaxed) % pages;
        return {.address = first_ + page * page_bytes(), .bytes = bytes, .locked_bytes = page_bytes()};
    }
    [[nodiscard]] UnpinAnswer deallocate(const HostBlock&) noexcept override { return {}; }
    [[nodiscard]] HostBlock register_memory(std::byte* address, std::size_t bytes) override {
        return {.address = address, .bytes = bytes, .locked_bytes = page_bytes()};
    }
    [[nodiscard]] UnpinAnswer unregister_memory(const HostBlock&) noexcept override { return {}; }

private:
    static constexpr std::size_t pages = 2 * live_pins;
    std::byte* first_ = nullptr;
    std::atomic<std::size_t> next_{0};
};

using Buffer = PinnedBuffer<std::byte>;

void pin_and_unpin(benchmark::State& state, const PinBackendPtr& backend) {
    const PinOptions options{.backend = backend};
    for (auto _ : state) {
        const Buffer buffer(64, options);
        benchmark::DoNotOptimize(buffer.data());
    }
}

// A million pins, and addresses in the middle of random ones of them.
struct Crowd {
    explicit Crowd(const PinBackendPtr& backend) {
        buffers.reserve(live_pins);
        for (std::size_t i = 0; i != live_pins; ++i) buffers.emplace_back(4000, PinOptions{.backend = backend});
        std::mt19937_64 random(1);
        for (const void*& address : addresses) address = buffers[random() % live_pins].data() + 1234;
    }
    std::vector<Buffer> buffers;
    std::vector<const void*> addresses = std::vector<const void*>(4096);
};

void find_each(benchmark::State& state, const Crowd& crowd, auto find) {
    std::size_t next = 0;
    for (auto _ : state) benchmark::DoNotOptimize(find(crowd.addresses[next++ % crowd.addresses.size()]));
}

}  // namespace

void add_registry() {
    const PinBackendPtr backend = std::make_shared<AddressBackend>();
    compare({.what = "registry, one pin and its unpin",
             .baseline = "no registry",
             .most_extra_nanoseconds = 100.0},
            [=](auto& state) {
                for (auto _ : state) {
                    const HostBlock block = backend->allocate(64);
                    benchmark::DoNotOptimize(block);
                    benchmark::DoNotOptimize(backend->deallocate(block).status);
                }
            },
            [=](auto& state) { pin_and_unpin(state, backend); });
    compare({.what = "registry, pins of two threads at once",
             .baseline = "one thread",
             .least_ratio = 1.8,
             .threads = 2},
            [=](auto& state) { pin_and_unpin(state, backend); }, [=](auto& state) { pin_and_unpin(state, backend); });

    // Made when first needed: a run of other comparisons has no million pins.
    const auto crowd = [backend]() -> const Crowd& {
        static const Crowd made(backend);
        return made;
    };
    compare({.what = "find(address), a million live pins",
             .baseline = "linear scan of ranges",
             .least_ratio = 1000.0,
             .most_nanoseconds = 150.0,
             .repetitions = 5},
            [=](auto& state) {
                std::vector<std::pair<const std::byte*, const std::byte*>> ranges;
                for (const Buffer& buffer : crowd().buffers)
                    ranges.emplace_back(buffer.data(), buffer.data() + buffer.size());
                find_each(state, crowd(), [&](const void* address) {
                    for (const auto& [first, last] : ranges)
                        if (first <= address && address < last) return true;
                    return false;
                });
            },
            [=](auto& state) {
                find_each(state, crowd(), [](const void* address) {
                    return audit::Registry::instance().find(address).has_value();
                });
            });

    compare({.what = "one recorded use of a handle",
             .baseline = "an event that nobody keeps",
             .most_extra_nanoseconds = 50.0},
            [](auto& state) {
                const auto stream = make_cpu_accelerator()->create_stream("uses");
                for (auto _ : state) benchmark::DoNotOptimize(stream->record());
            },
            [backend](auto& state) {
                const auto stream = make_cpu_accelerator()->create_stream("uses");
                const Buffer buffer(64, {.backend = backend});
                for (auto _ : state) buffer.record_use(stream->record());
            });
}

}  // namespace pinwarden::bench
