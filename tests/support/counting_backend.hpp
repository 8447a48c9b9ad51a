// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// A backend for long runs: it refuses and fails at random, and counts what it answered without keeping a record of
/// each call, as ScriptedBackend does.
///
/// ```
/// const auto backend = std::make_shared<CountingBackend>(seed);
/// run_the_code_under_test(backend);
/// CHECK(backend->acquired() == backend->done() + backend->unloading() + backend->failed());
/// ```

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <new>
#include <random>
#include <string_view>

#include <pinwarden/backend/pageable_backend.hpp>
#include <pinwarden/backend/pin_backend.hpp>
#include <pinwarden/core/error.hpp>

namespace pinwarden::testing {

/// Blocks have at least a pointer's size. Of 64 acquisitions about four are refused; of 64 releases about one fails
/// and one meets an unloading runtime. Thread-safe.
class CountingBackend final : public PinBackend {
public:
    explicit CountingBackend(std::uint64_t seed) noexcept : seed_(seed) {}

    [[nodiscard]] std::size_t acquired() const noexcept { return acquired_; }
    [[nodiscard]] std::size_t refused() const noexcept { return refused_; }
    [[nodiscard]] std::size_t done() const noexcept { return done_; }
    [[nodiscard]] std::size_t unloading() const noexcept { return unloading_; }
    [[nodiscard]] std::size_t failed() const noexcept { return failed_; }
    [[nodiscard]] std::size_t failed_bytes() const noexcept { return failed_bytes_; }
    [[nodiscard]] std::size_t unloading_bytes() const noexcept { return unloading_bytes_; }

    [[nodiscard]] std::string_view name() const noexcept override { return "counting"; }
    [[nodiscard]] bool pins() const noexcept override { return true; }

    [[nodiscard]] HostBlock allocate(std::size_t bytes) override {
        if (draw() < 4) {
            ++refused_;
            throw PinError(PinRefusal{});
        }
        HostBlock block = inner_->allocate(bytes);
        block.locked_bytes = bytes;
        ++acquired_;
        return block;
    }

    // What fails stays allocated, as it must: the registry keeps it in quarantine, and this backend with it.
    [[nodiscard]] UnpinAnswer deallocate(const HostBlock& block) noexcept override {
        const unsigned chance = draw();
        if (chance == 0) {
            ++failed_;
            failed_bytes_ += block.bytes;
            keep(block);
            return {UnpinStatus::failed, "counting unpin", EIO};
        }
        static_cast<void>(inner_->deallocate(block));
        if (chance == 1) {
            ++unloading_;
            unloading_bytes_ += block.bytes;
            return {UnpinStatus::unloading, "", 0};
        }
        ++done_;
        return {};
    }

    [[nodiscard]] HostBlock register_memory(std::byte* address, std::size_t bytes) override {
        ++acquired_;
        return {address, bytes, bytes};
    }

    [[nodiscard]] UnpinAnswer unregister_memory(const HostBlock&) noexcept override {
        ++done_;
        return {};
    }

private:
    // A chain through the memory itself: needs no memory, and shows a leak checker that it is held.
    void keep(const HostBlock& block) noexcept {
        auto* const link = new (block.address) Link{kept_.load()};
        while (!kept_.compare_exchange_weak(link->next, link)) {
        }
    }

    struct Link {
        Link* next;
    };

    // Each thread has a generator of its own, seeded differently, so that drawing needs no lock.
    unsigned draw() noexcept {
        thread_local std::minstd_rand generator(static_cast<std::minstd_rand::result_type>(seed_.fetch_add(1)));
        return static_cast<unsigned>(generator() % 64);
    }

    const PinBackendPtr inner_ = pageable_backend();
    std::atomic<std::uint64_t> seed_;
    std::atomic<Link*> kept_{nullptr};
    std::atomic<std::size_t> acquired_{0};
    std::atomic<std::size_t> refused_{0};
    std::atomic<std::size_t> done_{0};
    std::atomic<std::size_t> unloading_{0};
    std::atomic<std::size_t> failed_{0};
    std::atomic<std::size_t> failed_bytes_{0};
    std::atomic<std::size_t> unloading_bytes_{0};
};

}  // namespace pinwarden::testing
