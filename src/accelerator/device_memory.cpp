// SPDX-License-Identifier: Apache-2.0
#include <accelerator/device_memory.hpp>

#include <algorithm>
#include <new>
#include <utility>

#include <pinwarden/core/fork.hpp>
#include <pinwarden/core/process_memory.hpp>

namespace pinwarden::detail {

namespace {

constexpr std::align_val_t block_alignment{256};

// From this size on a request is compared with what the machine can give: an overcommitted allocation
// succeeds, and the kernel kills the process when it is touched. Below, the comparison would cost more than
// it protects.
constexpr std::size_t large_block = std::size_t{64} << 20;

}  // namespace

void DeviceBlock::Free::operator()(std::byte* address) const noexcept {
    ::operator delete(address, block_alignment);
}

DeviceBlock::DeviceBlock(DeviceMemory& memory, std::size_t bytes)
    : memory_(memory),
      bytes_(bytes),
      storage_(static_cast<std::byte*>(::operator new(bytes, block_alignment))) {}

void DeviceBlock::run() {
    storage_.reset();
    memory_.given_back(bytes_);
}

std::byte* DeviceMemory::try_allocate(std::size_t bytes, bool may_wait) noexcept {
    if (!reserve(bytes, may_wait)) return nullptr;
    try {
        if (bytes >= large_block && bytes > available_bytes()) {
            unreserve(bytes);
            return nullptr;
        }
        auto block = std::make_unique<DeviceBlock>(*this, bytes);
        std::byte* const address = block->address();
        Blocks one;  // makes the map's node here, so that none is allocated under the lock
        one.emplace(address, std::move(block));
        commit(one.extract(one.begin()));
        return address;
    } catch (const std::bad_alloc&) {
        unreserve(bytes);
        return nullptr;
    }
}

std::unique_ptr<DeviceBlock> DeviceMemory::withdraw(const std::byte* address, std::size_t bytes) noexcept {
    Blocks::node_type node;  // freed after the lock is
    const std::lock_guard lock(mutex_);
    const auto found = blocks_.find(address);
    if (found == blocks_.end() || found->second->bytes() != bytes) return nullptr;
    withdrawn_ += bytes;
    node = blocks_.extract(found);
    return std::move(node.mapped());
}

bool DeviceMemory::holds(const std::byte* address, std::size_t bytes) const noexcept {
    const std::lock_guard lock(mutex_);
    const auto behind = blocks_.upper_bound(address);
    if (behind == blocks_.begin()) return false;
    const auto& [start, block] = *std::prev(behind);
    const auto offset = static_cast<std::size_t>(address - start);
    return offset <= block->bytes() && bytes <= block->bytes() - offset;
}

DeviceMemoryUsage DeviceMemory::usage() const noexcept {
    // In a child of fork() none of it can be used, and the mutex may be held by a thread that is not there.
    if (generation_ != fork_generation()) return {.capacity = capacity_};
    const std::lock_guard lock(mutex_);
    return {.in_use = in_use_, .peak = peak_, .capacity = capacity_, .allocations = allocations_};
}

bool DeviceMemory::reserve(std::size_t bytes, bool may_wait) noexcept {
    std::unique_lock lock(mutex_);
    while (bytes > capacity_ - in_use_ - reserved_) {
        if (!may_wait || bytes > capacity_ - (in_use_ - withdrawn_)) return false;
        released_.wait(lock);
    }
    reserved_ += bytes;
    return true;
}

void DeviceMemory::unreserve(std::size_t bytes) noexcept {
    {
        const std::lock_guard lock(mutex_);
        reserved_ -= bytes;
    }
    released_.notify_all();
}

void DeviceMemory::commit(Blocks::node_type block) noexcept {
    {
        const std::lock_guard lock(mutex_);
        const std::size_t bytes = block.mapped()->bytes();
        blocks_.insert(std::move(block));
        reserved_ -= bytes;
        in_use_ += bytes;
        peak_ = std::max(peak_, in_use_);
        ++allocations_;
    }
    released_.notify_all();  // who waited for the reservation to fail must not wait for it any longer
}

void DeviceMemory::given_back(std::size_t bytes) noexcept {
    {
        const std::lock_guard lock(mutex_);
        in_use_ -= bytes;
        withdrawn_ -= bytes;
        --allocations_;
    }
    released_.notify_all();
}

}  // namespace pinwarden::detail
