// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The type-erased owner inside every handle. Users hold PinnedBuffer, PinnedScratch or PinnedRegistration.

#include <concepts>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include <pinwarden/accelerator/accelerator.hpp>
#include <pinwarden/core/completion.hpp>
#include <pinwarden/core/export.hpp>
#include <pinwarden/core/site.hpp>
#include <pinwarden/own/pin_options.hpp>

namespace pinwarden {

/// What a handle may hold: plain bytes, since the device copies them without asking, and no cv-qualification.
template <typename T>
concept HostElement = std::is_trivially_copyable_v<T> && std::same_as<T, std::remove_cv_t<T>>;

namespace detail {

/// Owns one block of host memory, pinned or not, and its record in the audit. Move-only; moved-from equals empty.
class PINWARDEN_API Pin {
public:
    Pin() noexcept = default;

    /// Acquires `bytes`; none is a valid empty owner that touches neither backend nor audit.
    [[nodiscard]] static Pin allocate(std::size_t bytes, const PinOptions& options, const Site& site);

    /// Pins memory of somebody else.
    /// @throws OverlapError if one of its pages is pinned already.
    [[nodiscard]] static Pin adopt(std::byte* address, std::size_t bytes, const PinOptions& options,
                                   const Site& site);

    Pin(Pin&& other) noexcept : entry_(std::exchange(other.entry_, nullptr)) {}

    Pin& operator=(Pin&& other) noexcept {
        Pin taken(std::move(other));
        std::swap(entry_, taken.entry_);
        return *this;
    }

    ~Pin() {
        if (entry_ != nullptr) release();
    }

    [[nodiscard]] std::byte* address() const noexcept;
    [[nodiscard]] std::size_t bytes() const noexcept;
    [[nodiscard]] std::size_t locked_bytes() const noexcept;
    [[nodiscard]] bool is_pinned() const noexcept;
    [[nodiscard]] bool is_device_pinned() const noexcept;
    [[nodiscard]] bool fell_back() const noexcept;
    [[nodiscard]] std::string_view backend_name() const noexcept;

    /// Keeps the memory until `use` is complete; replaces an earlier use of the same queue.
    /// @throws std::bad_alloc; the use is then waited for before the exception leaves.
    void record_use(CompletionTokenPtr use) const;

    /// Keeps the memory until what is queued on `stream` by now is complete. Where that cannot be recorded the stream
    /// is waited for; where even that fails, the memory stays in flight for good.
    /// @throws why it could not be recorded.
    void record_use(Stream& stream) const;

    /// Waits until every recorded use is complete, or abandoned.
    void wait() const noexcept;

    /// Whether the runtime of a recorded use is going away, so that the memory must not be used again.
    [[nodiscard]] bool has_abandoned_use() const noexcept;

private:
    explicit Pin(void* entry) noexcept : entry_(entry) {}
    void release() noexcept;
    void wait_or_keep(Stream& stream) const noexcept;
    void keep_for_good() const noexcept;

    void* entry_ = nullptr;  // leads to an audit::Entry, which only the implementation knows
};

}  // namespace detail
}  // namespace pinwarden
