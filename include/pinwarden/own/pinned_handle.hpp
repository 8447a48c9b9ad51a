// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// What every handle of host memory can tell of its pin. Users hold PinnedBuffer, PinnedScratch or
/// PinnedRegistration, which derive from it; it cannot be made or destroyed by itself.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include <pinwarden/accelerator/accelerator.hpp>
#include <pinwarden/core/completion.hpp>
#include <pinwarden/own/pin.hpp>

namespace pinwarden {

/// The part that all handles share. As thread-safe as `std::unique_ptr`.
class PinnedHandle {
public:
    /// Bytes that the kernel counts as locked for it: whole pages, 0 for pageable memory.
    [[nodiscard]] std::size_t locked_bytes() const noexcept { return pin_.locked_bytes(); }

    /// Whether the memory is page-locked; false for an empty handle.
    [[nodiscard]] bool is_pinned() const noexcept { return pin_.is_pinned(); }

    /// Whether an accelerator reaches it by direct memory access, which locking alone does not give.
    [[nodiscard]] bool is_device_pinned() const noexcept { return pin_.is_device_pinned(); }

    /// Whether `Pinning::prefer_pinned` had to be content with pageable memory.
    [[nodiscard]] bool fell_back() const noexcept { return pin_.fell_back(); }

    /// The backend that will release it; empty for an empty handle.
    [[nodiscard]] std::string_view backend_name() const noexcept { return pin_.backend_name(); }

    /// Whether all `bytes` from `first` are the handle's memory; of no bytes, wherever, they are.
    [[nodiscard]] bool contains(const void* first, std::size_t bytes) const noexcept {
        if (bytes == 0) return true;
        const auto begin = reinterpret_cast<std::uintptr_t>(pin_.address());
        const auto asked = reinterpret_cast<std::uintptr_t>(first);
        if (begin == 0 || asked < begin) return false;
        return asked - begin <= pin_.bytes() && bytes <= pin_.bytes() - (asked - begin);
    }

    /// Records that work up to `use` reads or writes the memory; the copies of own/copy.hpp do it themselves.
    /// @pre `use` is not null
    /// @pre uses of one queue are recorded in the queue's order: a later one replaces those before it
    /// @throws std::bad_alloc; `use` is then waited for before the exception leaves.
    void record_use(CompletionTokenPtr use) const { pin_.record_use(std::move(use)); }

    /// Records what is queued on `stream` by now as a use, by an event of the stream's own device: for work that the
    /// library does not see.
    /// @throws AcceleratorError, std::bad_alloc if it cannot be recorded. The stream has then been waited for; where
    ///         even that failed, the memory is never released, and stays in reports as in flight.
    void record_use(Stream& stream) const { pin_.record_use(stream); }

    /// Waits until every recorded use is complete, so that the host may read and write the memory.
    void wait() const noexcept { pin_.wait(); }

protected:
    PinnedHandle() noexcept = default;
    explicit PinnedHandle(detail::Pin pin) noexcept : pin_(std::move(pin)) {}
    PinnedHandle(PinnedHandle&&) noexcept = default;
    PinnedHandle& operator=(PinnedHandle&&) noexcept = default;
    ~PinnedHandle() = default;

    [[nodiscard]] const detail::Pin& pin() const noexcept { return pin_; }
    void drop_pin() noexcept { pin_ = detail::Pin(); }
    void hold(detail::Pin pin) noexcept { pin_ = std::move(pin); }
    void swap_pin(PinnedHandle& other) noexcept { std::swap(pin_, other.pin_); }

private:
    detail::Pin pin_;
};

}  // namespace pinwarden
