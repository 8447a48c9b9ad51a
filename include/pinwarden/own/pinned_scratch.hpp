// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// A reusable destination in host memory whose old content is garbage.
///
/// It is allocated once, as pinned or pageable memory directly: nothing is copied, and at no time does it hold two
/// blocks. Each use asks for as many elements as it will write, up to the capacity.
///
/// ```
/// pinwarden::PinnedScratch<float> gradients(largest, {.pinning = pinning, .label = "lp_grads"});
/// auto destination = gradients.acquire(count);
/// ```
/// It is not a buffer: nothing survives from one acquire() to the next.

#include <cstddef>
#include <string_view>
#include <utility>

#include <gsl/span>

#include <pinwarden/core/bytes.hpp>
#include <pinwarden/core/completion.hpp>
#include <pinwarden/core/error.hpp>
#include <pinwarden/core/export.hpp>
#include <pinwarden/core/site.hpp>
#include <pinwarden/own/pin.hpp>
#include <pinwarden/own/pin_options.hpp>

namespace pinwarden {

/// More was asked of a scratch than it holds.
class PINWARDEN_API CapacityError : public SizeError {
public:
    CapacityError(std::size_t asked, std::size_t capacity, std::size_t element_bytes);
};

/// A move-only owner of scratch memory. Moved-from equals empty. As thread-safe as `std::unique_ptr`.
template <HostElement T>
class [[nodiscard]] PinnedScratch {
public:
    /// An empty scratch that pins nothing.
    PinnedScratch() noexcept = default;

    /// Room for `capacity` elements; none is a valid empty scratch.
    /// @throws as PinnedBuffer's constructor does.
    [[nodiscard]] explicit PinnedScratch(std::size_t capacity, const PinOptions& options = {},
                                         Site site = Site::current())
        : pin_(detail::Pin::allocate(checked_bytes(capacity, sizeof(T)), options, site)), capacity_(capacity) {}

    PinnedScratch(PinnedScratch&& other) noexcept
        : pin_(std::move(other.pin_)), capacity_(std::exchange(other.capacity_, 0)) {}

    PinnedScratch& operator=(PinnedScratch&& other) noexcept {
        PinnedScratch taken(std::move(other));
        swap(taken);
        return *this;
    }

    ~PinnedScratch() = default;

    /// The first `count` elements, with unspecified values, after waiting until earlier recorded uses are complete.
    /// What an earlier acquire() returned must not be used any more.
    /// @throws CapacityError if `count` exceeds the capacity; the scratch is unchanged then.
    [[nodiscard]] gsl::span<T> acquire(std::size_t count) PINWARDEN_LIFETIMEBOUND {
        if (count > capacity_) throw CapacityError(count, capacity_, sizeof(T));
        pin_.wait();
        return {reinterpret_cast<T*>(pin_.address()), count};
    }

    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
    [[nodiscard]] std::size_t capacity_bytes() const noexcept { return capacity_ * sizeof(T); }

    /// See PinnedBuffer for the five queries and record_use().
    [[nodiscard]] std::size_t locked_bytes() const noexcept { return pin_.locked_bytes(); }
    [[nodiscard]] bool is_pinned() const noexcept { return pin_.is_pinned(); }
    [[nodiscard]] bool is_device_pinned() const noexcept { return pin_.is_device_pinned(); }
    [[nodiscard]] bool fell_back() const noexcept { return pin_.fell_back(); }
    [[nodiscard]] std::string_view backend_name() const noexcept { return pin_.backend_name(); }
    void record_use(CompletionTokenPtr use) const { pin_.record_use(std::move(use)); }

    /// Waits until every recorded use is complete, so that the host may read the elements.
    void wait() const noexcept { pin_.wait(); }

    /// Releases the memory, after the recorded uses, and leaves the scratch empty.
    void reset() noexcept { *this = PinnedScratch(); }

    void swap(PinnedScratch& other) noexcept {
        std::swap(pin_, other.pin_);
        std::swap(capacity_, other.capacity_);
    }

private:
    detail::Pin pin_;
    std::size_t capacity_ = 0;
};

}  // namespace pinwarden
