// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// A reusable destination in host memory whose old content is garbage.
///
/// It is allocated once, as pinned or pageable memory directly: nothing is copied, and at no time does it hold two
/// blocks. Each use asks for as many elements as it will write, up to the capacity, which grow() raises.
///
/// ```
/// pinwarden::PinnedScratch<float> gradients(largest, {.pinning = pinning, .label = "lp_grads"});
/// auto destination = gradients.acquire(count);
/// ```
/// It is not a buffer: nothing survives from one acquire() to the next.

#include <cstddef>
#include <string>
#include <utility>

#include <gsl/span>

#include <pinwarden/core/bytes.hpp>
#include <pinwarden/core/error.hpp>
#include <pinwarden/core/export.hpp>
#include <pinwarden/core/site.hpp>
#include <pinwarden/own/pin.hpp>
#include <pinwarden/own/pin_options.hpp>
#include <pinwarden/own/pinned_handle.hpp>

namespace pinwarden {

/// More was asked of a scratch than it holds.
class PINWARDEN_API CapacityError : public SizeError {
public:
    CapacityError(std::size_t asked, std::size_t capacity, std::size_t element_bytes);
};

namespace detail {

[[noreturn]] PINWARDEN_API void refuse_reuse();

}  // namespace detail

/// A move-only owner of scratch memory. Moved-from equals empty. As thread-safe as `std::unique_ptr`.
template <HostElement T>
class [[nodiscard]] PinnedScratch : public PinnedHandle {
public:
    /// An empty scratch that pins nothing.
    PinnedScratch() noexcept = default;

    /// Room for `capacity` elements; none is a valid empty scratch.
    /// @throws as PinnedBuffer's constructor does.
    [[nodiscard]] explicit PinnedScratch(std::size_t capacity, const PinOptions& options = {},
                                         Site site = Site::current())
        : PinnedHandle(detail::Pin::allocate(checked_bytes(capacity, sizeof(T)), options, site)),
          capacity_(capacity),
          label_(options.label),
          options_(options) {}

    PinnedScratch(PinnedScratch&& other) noexcept
        : PinnedHandle(std::move(other)),
          capacity_(std::exchange(other.capacity_, 0)),
          label_(std::exchange(other.label_, {})),
          options_(std::exchange(other.options_, {})) {}

    PinnedScratch& operator=(PinnedScratch&& other) noexcept {
        PinnedScratch taken(std::move(other));
        swap(taken);
        return *this;
    }

    ~PinnedScratch() = default;

    /// The first `count` elements, with unspecified values, after waiting until earlier recorded uses are complete.
    /// What an earlier acquire() returned must not be used any more.
    /// @throws CapacityError if `count` exceeds the capacity, AcceleratorError if the process is exiting and nobody can
    ///         tell any more whether an earlier use is over; the scratch is unchanged then.
    [[nodiscard]] gsl::span<T> acquire(std::size_t count) PINWARDEN_LIFETIMEBOUND {
        if (count > capacity_) throw CapacityError(count, capacity_, sizeof(T));
        wait();
        if (pin().has_abandoned_use()) detail::refuse_reuse();
        return {reinterpret_cast<T*>(pin().address()), count};
    }

    /// Makes room for at least `count` elements, with the options that the scratch was made with, those of a default
    /// constructed one being the defaults. The old block is waited for and released before the new one is acquired,
    /// so at no time are there two; what acquire() returned is gone, and so is its content. Enough room already: does
    /// nothing and does not wait.
    /// @throws SizeError if the size overflows; the scratch is unchanged then. As the constructor does if the new
    ///         block is refused; the scratch is then empty, holds nothing, and may be asked to grow again.
    void grow(std::size_t count, Site site = Site::current()) {
        if (count <= capacity_) return;
        const std::size_t bytes = checked_bytes(count, sizeof(T));
        wait();
        drop_pin();
        capacity_ = 0;
        options_.label = label_;  // the view follows the text, which moves with the scratch
        hold(detail::Pin::allocate(bytes, options_, site));
        capacity_ = count;
    }

    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
    [[nodiscard]] std::size_t capacity_bytes() const noexcept { return capacity_ * sizeof(T); }

    /// Releases the memory, after the recorded uses, and leaves the scratch empty.
    void reset() noexcept { *this = PinnedScratch(); }

    void swap(PinnedScratch& other) noexcept {
        swap_pin(other);
        std::swap(capacity_, other.capacity_);
        std::swap(label_, other.label_);
        std::swap(options_, other.options_);
    }

private:
    std::size_t capacity_ = 0;
    std::string label_{};  // what `options_.label` views while a block is acquired
    PinOptions options_{};
};

}  // namespace pinwarden
