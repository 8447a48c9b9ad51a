// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The owning handle of host memory that the device copies by DMA.
///
/// It pins in its constructor, unpins in its destructor, and knows nothing of configuration in between: how the block
/// was pinned is stored with the block, and release does what is stored there. Dropping it while a recorded copy is
/// running is safe; the memory is then released after the copy.
///
/// Cost: a system call each way; use a pool for short-lived blocks. It is not a container: no growth, no element
/// construction, and the elements of a new buffer have unspecified values.
///
/// ```
/// pinwarden::PinnedBuffer<float> buffer(1024, {.scope = scope, .label = "hp_params"});
/// std::ranges::fill(buffer.span(), 0.0F);
/// ```

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <gsl/span>

#include <pinwarden/core/bytes.hpp>
#include <pinwarden/core/export.hpp>
#include <pinwarden/core/site.hpp>
#include <pinwarden/own/pin.hpp>
#include <pinwarden/own/pin_options.hpp>
#include <pinwarden/own/pinned_handle.hpp>

namespace pinwarden {

/// A move-only owner of `size()` elements of host memory. Moved-from equals empty. As thread-safe as
/// `std::unique_ptr`.
template <HostElement T>
class [[nodiscard]] PinnedBuffer : public PinnedHandle {
public:
    /// An empty buffer that pins nothing.
    PinnedBuffer() noexcept = default;

    /// `count` elements of unspecified value, aligned to a page; none is a valid empty buffer.
    /// @throws SizeError if the size overflows, PinError if pinning is refused (with `Pinning::prefer_pinned` only
    ///         if ordinary memory is refused too), and what default_backend() throws. Nothing is held then.
    [[nodiscard]] explicit PinnedBuffer(std::size_t count, const PinOptions& options = {},
                                        Site site = Site::current())
        : PinnedHandle(detail::Pin::allocate(checked_bytes(count, sizeof(T)), options, site)), size_(count) {}

    /// A buffer with the elements of `source`.
    /// @throws as the constructor does.
    [[nodiscard]] static PinnedBuffer copy_of(gsl::span<const T> source, const PinOptions& options = {},
                                              Site site = Site::current()) {
        PinnedBuffer buffer(source.size(), options, site);
        std::copy(source.begin(), source.end(), buffer.data());
        return buffer;
    }

    PinnedBuffer(PinnedBuffer&& other) noexcept
        : PinnedHandle(std::move(other)), size_(std::exchange(other.size_, 0)) {}

    PinnedBuffer& operator=(PinnedBuffer&& other) noexcept {
        PinnedBuffer taken(std::move(other));
        swap(taken);
        return *this;
    }

    ~PinnedBuffer() = default;

    /// The elements; valid until the buffer is moved from, reset or destroyed.
    [[nodiscard]] gsl::span<T> span() PINWARDEN_LIFETIMEBOUND { return {data(), size_}; }
    [[nodiscard]] gsl::span<const T> span() const PINWARDEN_LIFETIMEBOUND { return {data(), size_}; }

    [[nodiscard]] T* data() noexcept PINWARDEN_LIFETIMEBOUND { return reinterpret_cast<T*>(pin().address()); }
    [[nodiscard]] const T* data() const noexcept PINWARDEN_LIFETIMEBOUND {
        return reinterpret_cast<const T*>(pin().address());
    }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] std::size_t size_bytes() const noexcept { return size_ * sizeof(T); }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

    /// Releases the memory, after the recorded uses, and leaves the buffer empty.
    void reset() noexcept { *this = PinnedBuffer(); }

    void swap(PinnedBuffer& other) noexcept {
        swap_pin(other);
        std::swap(size_, other.size_);
    }

private:
    std::size_t size_ = 0;
};

}  // namespace pinwarden
