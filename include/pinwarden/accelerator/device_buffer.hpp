// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The owner of device memory, in the order of one stream.
///
/// The memory may be used by work queued on that stream at any time from construction on, and is given back,
/// when the buffer is destroyed, behind all work queued on it by then. Work on other streams must be ordered
/// by the caller.
///
/// ```
/// pinwarden::DeviceBuffer<float> weights(1024, stream);
/// pinwarden::copy(host_buffer, weights, *stream);     // own/copy.hpp
/// ```

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <gsl/span>

#include <pinwarden/accelerator/accelerator.hpp>
#include <pinwarden/core/bytes.hpp>
#include <pinwarden/core/export.hpp>

namespace pinwarden {

/// A move-only owner of `size()` elements on a device. Moved-from equals empty. As thread-safe as
/// `std::unique_ptr`.
template <typename T>
    requires std::is_trivially_copyable_v<T>
class [[nodiscard]] DeviceBuffer {
public:
    /// An empty buffer that holds nothing.
    DeviceBuffer() noexcept = default;

    /// `count` elements of unspecified content; none is a valid empty buffer.
    /// @pre `stream` is not null, unless `count` is 0
    /// @throws SizeError if the size overflows, AcceleratorError if the device has not enough memory.
    [[nodiscard]] DeviceBuffer(std::size_t count, StreamPtr stream) : stream_(std::move(stream)) {
        const std::size_t bytes = checked_bytes(count, sizeof(T));
        if (count != 0) {
            data_ = reinterpret_cast<T*>(stream_->allocate(bytes));
            size_ = count;
        }
    }

    DeviceBuffer(DeviceBuffer&& other) noexcept
        : stream_(std::move(other.stream_)),
          data_(std::exchange(other.data_, nullptr)),
          size_(std::exchange(other.size_, 0)) {}

    DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
        DeviceBuffer taken(std::move(other));
        swap(taken);
        return *this;
    }

    ~DeviceBuffer() {
        if (data_ != nullptr) stream_->deallocate(reinterpret_cast<std::byte*>(data_), size_ * sizeof(T));
    }

    /// The elements' device addresses: to be used by work queued on the stream, not by the host.
    [[nodiscard]] gsl::span<T> device_span() PINWARDEN_LIFETIMEBOUND { return {data_, size_}; }
    [[nodiscard]] gsl::span<const T> device_span() const PINWARDEN_LIFETIMEBOUND { return {data_, size_}; }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] std::size_t size_bytes() const noexcept { return size_ * sizeof(T); }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

    /// Gives the memory back now, in stream order, and leaves the buffer empty.
    void reset() noexcept { *this = DeviceBuffer(); }

    void swap(DeviceBuffer& other) noexcept {
        std::swap(stream_, other.stream_);
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
    }

private:
    StreamPtr stream_;
    T* data_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace pinwarden
