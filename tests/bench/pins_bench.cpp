// SPDX-License-Identifier: Apache-2.0
// Pinning and unpinning against posix_memalign + mlock and munlock + free.
#include <sys/mman.h>

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include <pinwarden/backend/native_backend.hpp>
#include <pinwarden/core/bytes.hpp>
#include <pinwarden/own/pinned_buffer.hpp>
#include <pinwarden/own/pinned_scratch.hpp>
#include <pinwarden/pool/pinned_pool.hpp>

#include "bench.hpp"
#include "comparison.hpp"

namespace pinwarden::bench {
namespace {

constexpr std::size_t gibibyte = std::size_t{1} << 30;
constexpr std::size_t small = std::size_t{64} << 10;

/// Memory as runtimes pin it today.
class LockedMemory {
public:
    explicit LockedMemory(std::size_t bytes) : bytes_(bytes) {
        if (::posix_memalign(&address_, page_bytes(), bytes) != 0) throw std::bad_alloc();
        if (::mlock(address_, bytes) != 0) {
            std::free(address_);
            throw std::bad_alloc();
        }
    }
    LockedMemory(const LockedMemory&) = delete;
    LockedMemory& operator=(const LockedMemory&) = delete;
    ~LockedMemory() {
        ::munlock(address_, bytes_);
        std::free(address_);
    }
    [[nodiscard]] void* data() const noexcept { return address_; }

private:
    void* address_ = nullptr;
    std::size_t bytes_;
};

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Times the making of an object only, or its end only.
template <typename Make>
void time_making(benchmark::State& state, Make make) {
    for (auto _ : state) {
        const auto start = Clock::now();
        auto object = make();
        state.SetIterationTime(seconds_since(start));
        benchmark::DoNotOptimize(object->data());
    }
}

template <typename Make>
void time_end(benchmark::State& state, Make make) {
    for (auto _ : state) {
        auto object = make();
        const auto start = Clock::now();
        object.reset();
        state.SetIterationTime(seconds_since(start));
    }
}

using Buffer = PinnedBuffer<std::byte>;

}  // namespace

void add_pins() {
    const auto locked = [] { return std::make_unique<LockedMemory>(gibibyte); };
    const auto pinned = [] { return std::make_unique<Buffer>(gibibyte, PinOptions{.backend = native_backend()}); };
    compare({.what = "pin 1 GiB", .baseline = "posix_memalign + mlock", .least_ratio = 3.5, .manual_time = true},
            [=](auto& state) { time_making(state, locked); }, [=](auto& state) { time_making(state, pinned); });
    compare({.what = "unpin 1 GiB", .baseline = "munlock + free", .least_ratio = 20.0, .manual_time = true},
            [=](auto& state) { time_end(state, locked); }, [=](auto& state) { time_end(state, pinned); });

    compare({.what = "pin and unpin 64 KiB through the pool",
             .baseline = "posix_memalign + mlock pair",
             .least_ratio = 50.0,
             .most_nanoseconds = 200.0},
            [](auto& state) {
                for (auto _ : state) {
                    const LockedMemory memory(small);
                    benchmark::DoNotOptimize(memory.data());
                }
            },
            [pool = std::make_shared<PinnedPool>(native_backend(), gibibyte)](auto& state) {
                const PinOptions options{.backend = pool};
                for (auto _ : state) {
                    const Buffer buffer(small, options);
                    benchmark::DoNotOptimize(buffer.data());
                }
            });

    constexpr std::size_t scratch_bytes = std::size_t{64} << 20;
    compare({.what = "pinned scratch of 64 MiB, content not kept",
             .baseline = "allocate, pin another, copy",
             .least_ratio = 1.0},
            [](auto& state) {
                for (auto _ : state) {
                    const std::unique_ptr<std::byte[]> pageable(new std::byte[scratch_bytes]());
                    const LockedMemory memory(scratch_bytes);
                    std::memcpy(memory.data(), pageable.get(), scratch_bytes);
                    benchmark::DoNotOptimize(memory.data());
                }
            },
            [](auto& state) {
                for (auto _ : state) {
                    PinnedScratch<std::byte> scratch(scratch_bytes, {.backend = native_backend()});
                    benchmark::DoNotOptimize(scratch.acquire(scratch_bytes).data());
                }
            });
}

}  // namespace pinwarden::bench
