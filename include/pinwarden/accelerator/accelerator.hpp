// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// A device with memory of its own, and its ordered queues of work.
///
/// The interface is what the engines need: stream-ordered memory, asynchronous copies, events, and functions
/// that run over device memory in stream order. cpu_accelerator.hpp implements it on threads.
///
/// Nobody outside this layer and the copies of own/copy.hpp deals in the raw addresses used here: the owning
/// type is DeviceBuffer, and host memory comes in handles.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <pinwarden/core/completion.hpp>
#include <pinwarden/core/error.hpp>
#include <pinwarden/core/export.hpp>

namespace pinwarden {

/// An accelerator refused a call, or work queued on it failed.
class PINWARDEN_API AcceleratorError : public Error {
public:
    using Error::Error;
};

/// A copy failed half-way, and what was queued of it could not be waited for: it may still be running.
class PINWARDEN_API LostCopyError : public AcceleratorError {
public:
    using AcceleratorError::AcceleratorError;
};

/// Device memory in bytes.
struct DeviceMemoryUsage {
    std::size_t in_use =
        0;  ///< allocated and not yet given back, stream-ordered frees that have run considered
    std::size_t peak = 0;         ///< the largest `in_use` so far
    std::size_t capacity = 0;     ///< what the device has
    std::size_t allocations = 0;  ///< blocks that make up `in_use`
};

/// An ordered queue of a device's work. Thread-safe.
///
/// Destroying a stream waits until what is queued on it has finished, and a failure of that work which no
/// synchronize() has thrown goes to the release-failure handler. Only where work queued on a stream drops the
/// last owner of one, its own or another, does nobody wait: the queue is then finished in the background.
class PINWARDEN_API Stream {
public:
    Stream() = default;
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    virtual ~Stream();

    /// A number that no other stream of this process ever has, before or after.
    [[nodiscard]] virtual std::uint64_t id() const noexcept = 0;

    /// The name for reports.
    [[nodiscard]] virtual std::string_view name() const noexcept = 0;

    /// Memory of the stream's device, usable by work queued on this stream from now on; aligned to 256 bytes.
    /// If the device is short of it, waits for what deallocate() has queued; work that runs on a stream does
    /// not.
    /// @throws AcceleratorError if `bytes` is 0 or the device has not enough; nothing is held then.
    [[nodiscard]] virtual std::byte* allocate(std::size_t bytes) = 0;

    /// Gives back memory of allocate() once all work queued on this stream so far has finished. Does not
    /// wait, and needs no memory. What is no block of the device goes to the release-failure handler and
    /// changes nothing.
    virtual void deallocate(std::byte* device, std::size_t bytes) noexcept = 0;

    /// Queues a copy of `bytes` from host to device. Both must stay valid until it is complete. Zero
    /// bytes are no copy.
    /// @throws AcceleratorError if an address is null or `device` is no memory of the device, AcceleratorError
    ///         or std::bad_alloc if it cannot be queued; nothing is queued then. LostCopyError if a part of it is.
    virtual void copy_to_device(std::byte* device, const std::byte* host, std::size_t bytes) = 0;

    /// Queues a copy of `bytes` from device to host, as copy_to_device() does.
    /// @throws as copy_to_device() does.
    virtual void copy_to_host(std::byte* host, const std::byte* device, std::size_t bytes) = 0;

    /// Queues `work`, which may read and write the device's memory through its addresses. If it throws, the
    /// stream carries on with what is queued behind it and synchronize() rethrows the first such exception.
    /// What `work` captured is destroyed before the work counts as finished.
    /// @throws AcceleratorError if `work` is empty or the device's memory is not addressable by the host, and
    ///         AcceleratorError or std::bad_alloc if it cannot be queued; nothing is queued then.
    virtual void launch(std::function<void()> work) = 0;

    /// The point in the queue that all work queued so far leads to, failed work included.
    /// @throws AcceleratorError or std::bad_alloc if it cannot be recorded.
    [[nodiscard]] virtual CompletionTokenPtr record() = 0;

    /// Waits until all work queued so far is complete on the host.
    /// @throws the first exception of work that failed since the last call; the stream is usable afterwards.
    ///         AcceleratorError, without waiting, if work of this stream calls it.
    virtual void synchronize() = 0;
};

/// Shared ownership of a stream: buffers keep the stream alive that orders their release.
using StreamPtr = std::shared_ptr<Stream>;

/// A device. Thread-safe; outlives what was made from it by shared ownership.
class PINWARDEN_API Accelerator {
public:
    Accelerator() = default;
    Accelerator(const Accelerator&) = delete;
    Accelerator& operator=(const Accelerator&) = delete;
    virtual ~Accelerator();

    /// The name for reports, `cpu` for example.
    [[nodiscard]] virtual std::string_view name() const noexcept = 0;

    /// A new stream; `name` appears in reports about work stuck on it.
    /// @throws AcceleratorError if the device has no more streams to give.
    [[nodiscard]] virtual StreamPtr create_stream(std::string name) = 0;

    /// How much of the device's memory is used; in a child of fork() the capacity only.
    [[nodiscard]] virtual DeviceMemoryUsage memory() const noexcept = 0;
};

/// Shared ownership of a device.
using AcceleratorPtr = std::shared_ptr<Accelerator>;

}  // namespace pinwarden
