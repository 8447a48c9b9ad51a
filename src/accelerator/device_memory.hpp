// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The memory of a CPU accelerator and its accounts.

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include <pinwarden/accelerator/accelerator.hpp>
#include <pinwarden/core/fork.hpp>

#include <accelerator/work_item.hpp>

namespace pinwarden::detail {

class DeviceMemory;

/// A block and, at once, the queued work that gives it back: since it is made together with the block, giving
/// back needs no memory and cannot fail.
class DeviceBlock final : public WorkItem {
public:
    /// @throws std::bad_alloc
    DeviceBlock(DeviceMemory& memory, std::size_t bytes);

    [[nodiscard]] std::byte* address() const noexcept { return storage_.get(); }
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

    /// Gives the block back to its memory, which must still exist: the queue's worker holds on to it.
    void run() override;

private:
    struct Free {
        void operator()(std::byte* address) const noexcept;
    };

    DeviceMemory& memory_;
    const std::size_t bytes_;
    std::unique_ptr<std::byte, Free> storage_;
};

/// Blocks of host memory that are counted apart, up to a capacity. Thread-safe.
class DeviceMemory {
public:
    explicit DeviceMemory(std::size_t capacity) noexcept
        : capacity_(capacity), generation_(fork_generation()) {}

    /// A block of `bytes`; null if the capacity or the host's memory does not suffice. Where the capacity
    /// would suffice if withdrawn blocks had run, `may_wait` says whether to wait for that: whether an
    /// allocation succeeds then depends on what was given back, and not on how far the workers have come.
    [[nodiscard]] std::byte* try_allocate(std::size_t bytes, bool may_wait) noexcept;

    /// Takes a block out of use. It counts until the result has run.
    /// @return null if no block starts at `address` or its size is not `bytes`.
    [[nodiscard]] std::unique_ptr<DeviceBlock> withdraw(const std::byte* address, std::size_t bytes) noexcept;

    /// Whether all of these bytes lie in one block that has not been withdrawn.
    [[nodiscard]] bool holds(const std::byte* address, std::size_t bytes) const noexcept;

    [[nodiscard]] DeviceMemoryUsage usage() const noexcept;

private:
    friend class DeviceBlock;
    using Blocks = std::map<const std::byte*, std::unique_ptr<DeviceBlock>>;

    [[nodiscard]] bool reserve(std::size_t bytes, bool may_wait) noexcept;
    void unreserve(std::size_t bytes) noexcept;
    void commit(Blocks::node_type block) noexcept;
    void given_back(std::size_t bytes) noexcept;

    const std::size_t capacity_;
    const std::uint64_t generation_;  // of the process that made it
    mutable std::mutex mutex_;
    std::condition_variable released_;
    Blocks blocks_;
    std::size_t reserved_ = 0;  // asked for by calls that have not got their memory yet
    std::size_t in_use_ = 0;
    std::size_t withdrawn_ = 0;  // the part of `in_use_` that is about to be given back
    std::size_t peak_ = 0;
    std::size_t allocations_ = 0;
};

}  // namespace pinwarden::detail
