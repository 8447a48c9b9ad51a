// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Asynchronous copies between handles and device memory that remember themselves.
///
/// Each queues the copy on `stream` and records it with the host handle, so the handle may be dropped at once. The
/// host may touch the elements again after `handle.wait()`.
///
/// Of a scratch or a registration a part is copied, named by its span:
/// ```
/// const auto part = scratch.acquire(device.size());
/// std::ranges::fill(part, 0.0F);
/// pinwarden::copy(scratch, part, device, stream);
/// ```

#include <concepts>
#include <cstddef>
#include <type_traits>

#include <gsl/span>

#include <pinwarden/accelerator/accelerator.hpp>
#include <pinwarden/accelerator/device_buffer.hpp>
#include <pinwarden/core/error.hpp>
#include <pinwarden/core/export.hpp>
#include <pinwarden/own/pinned_buffer.hpp>
#include <pinwarden/own/pinned_handle.hpp>

namespace pinwarden {

namespace detail {

PINWARDEN_API void require_same_size(std::size_t source, std::size_t destination);
PINWARDEN_API void require_part(const PinnedHandle& host, const void* first, std::size_t bytes);

/// Queues a copy by `queue` and records it with `host`. Whatever fails, nothing is in flight unseen.
template <typename Handle, typename Queue>
void queue_recorded(const Handle& host, Stream& stream, Queue queue) {
    try {
        queue();
    } catch (const LostCopyError&) {
        try {
            host.record_use(stream);
        } catch (...) {  // the memory is kept in this case too, and the copy's own error says more
        }
        throw;
    }
    host.record_use(stream);
}

}  // namespace detail

/// Queues a copy of `part`, which lies in the memory of `host`, to all elements of `device`.
/// @throws SizeError if the sizes differ or `part` is not wholly memory of `host`, which then could not be kept for
///         the copy; AcceleratorError if it cannot be queued.
template <std::derived_from<PinnedHandle> Handle, HostElement T>
void copy(const Handle& host, std::type_identity_t<gsl::span<const T>> part, DeviceBuffer<T>& device,
          Stream& stream) {
    detail::require_same_size(part.size(), device.size());
    detail::require_part(host, part.data(), part.size_bytes());
    if (part.empty()) return;
    detail::queue_recorded(host, stream, [&] {
        stream.copy_to_device(reinterpret_cast<std::byte*>(device.device_span().data()),
                              reinterpret_cast<const std::byte*>(part.data()), part.size_bytes());
    });
}

/// Queues a copy of all elements of `device` to `part`, which lies in the memory of `host`.
/// @throws as the copy to the device does.
template <std::derived_from<PinnedHandle> Handle, HostElement T>
void copy(const DeviceBuffer<T>& device, Handle& host, std::type_identity_t<gsl::span<T>> part, Stream& stream) {
    detail::require_same_size(device.size(), part.size());
    detail::require_part(host, part.data(), part.size_bytes());
    if (part.empty()) return;
    detail::queue_recorded(host, stream, [&] {
        stream.copy_to_host(reinterpret_cast<std::byte*>(part.data()),
                            reinterpret_cast<const std::byte*>(device.device_span().data()), part.size_bytes());
    });
}

/// Queues a copy of all elements of `host` to `device`.
/// @throws SizeError if the sizes differ, AcceleratorError if it cannot be queued.
template <HostElement T>
void copy(const PinnedBuffer<T>& host, DeviceBuffer<T>& device, Stream& stream) {
    copy(host, host.span(), device, stream);
}

/// Queues a copy of all elements of `device` to `host`.
/// @throws SizeError if the sizes differ, AcceleratorError if it cannot be queued.
template <HostElement T>
void copy(const DeviceBuffer<T>& device, PinnedBuffer<T>& host, Stream& stream) {
    copy(device, host, host.span(), stream);
}

}  // namespace pinwarden
