// SPDX-License-Identifier: Apache-2.0
#include "cuda/device_blocks.hpp"

#include <algorithm>
#include <utility>

namespace pinwarden::cuda::detail {

DeviceBlocks::Blocks::node_type DeviceBlocks::make_node() {
    Blocks one;
    one.emplace(nullptr, Block{});
    return one.extract(one.begin());
}

void DeviceBlocks::add(Blocks::node_type node, const std::byte* address, std::size_t bytes) noexcept {
    node.key() = address;
    node.mapped().bytes = bytes;
    const std::scoped_lock lock(mutex_);
    blocks_.insert(std::move(node));
    in_use_ += bytes;
    peak_ = std::max(peak_, in_use_);
    ++allocations_;
}

DeviceBlocks::Blocks::node_type DeviceBlocks::withdraw(const std::byte* address, std::size_t bytes) noexcept {
    const std::scoped_lock lock(mutex_);
    const auto found = blocks_.find(address);
    if (found == blocks_.end() || found->second.bytes != bytes) return {};
    return blocks_.extract(found);
}

void DeviceBlocks::defer(Blocks::node_type node) noexcept {
    const std::scoped_lock lock(mutex_);
    node.mapped().number = ++last_number_;
    deferred_.insert(std::move(node));
    waiting_.fetch_add(1, std::memory_order_relaxed);
}

std::uint64_t DeviceBlocks::next_number() const noexcept {
    const std::scoped_lock lock(mutex_);
    return last_number_ + 1;
}

template <typename HasRun>
void DeviceBlocks::collect_if(HasRun has_run) noexcept {
    if (waiting_.load(std::memory_order_relaxed) == 0) return;
    Deferred taken;
    {
        const std::scoped_lock lock(mutex_);
        taken.swap(deferred_);
    }
    std::size_t bytes = 0;
    std::size_t number = 0;
    for (auto block = taken.begin(); block != taken.end();) {
        if (!has_run(std::as_const(block->second))) {
            ++block;
            continue;
        }
        bytes += block->second.bytes;
        ++number;
        block = taken.erase(block);
    }
    waiting_.fetch_sub(number, std::memory_order_relaxed);
    const std::scoped_lock lock(mutex_);
    deferred_.merge(taken);
    in_use_ -= bytes;
    allocations_ -= number;
}

void DeviceBlocks::collect() noexcept {
    collect_if([](const Block& block) {
        if (block.freed.is_empty()) return false;
        Outcome failure;
        const DeviceEvent::State state = block.freed.query(failure);
        return state == DeviceEvent::State::complete || state == DeviceEvent::State::abandoned;
    });
}

void DeviceBlocks::collect_without_event(std::uint64_t stream, std::uint64_t number) noexcept {
    collect_if([&](const Block& block) {
        return block.freed.is_empty() && block.stream == stream && block.number < number;
    });
}

bool DeviceBlocks::holds(const std::byte* address, std::size_t bytes) const noexcept {
    const std::scoped_lock lock(mutex_);
    const auto behind = blocks_.upper_bound(address);
    if (behind == blocks_.begin()) return false;
    const auto& [start, block] = *std::prev(behind);
    const auto offset = static_cast<std::size_t>(address - start);
    return offset <= block.bytes && bytes <= block.bytes - offset;
}

DeviceMemoryUsage DeviceBlocks::usage() const noexcept {
    const std::scoped_lock lock(mutex_);
    return {.in_use = in_use_, .peak = peak_, .capacity = capacity_, .allocations = allocations_};
}

}  // namespace pinwarden::cuda::detail
