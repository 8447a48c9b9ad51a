// SPDX-License-Identifier: Apache-2.0
#include "cuda/chunked_ranges.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace pinwarden::cuda::detail {

ChunkedRanges::Ranges::node_type ChunkedRanges::make_node() {
    Ranges one;
    one.emplace(nullptr, 0);
    return one.extract(one.begin());
}

void ChunkedRanges::add(Ranges::node_type node, pinwarden::detail::PageRange pages) noexcept {
    node.key() = pages.first;
    node.mapped() = pages.length;
    const std::scoped_lock lock(mutex_);
    if (ranges_.insert(std::move(node)).inserted) count_.fetch_add(1, std::memory_order_relaxed);
}

void ChunkedRanges::remove(const std::byte* first) noexcept {
    Ranges::node_type node;  // freed after the mutex is
    const std::scoped_lock lock(mutex_);
    node = ranges_.extract(first);
    if (!node.empty()) count_.fetch_sub(1, std::memory_order_relaxed);
}

std::size_t ChunkedRanges::in_one_piece(const std::byte* address, std::size_t bytes) const noexcept {
    if (count_.load(std::memory_order_relaxed) == 0) return bytes;
    const std::scoped_lock lock(mutex_);
    const auto behind = ranges_.upper_bound(address);
    if (behind != ranges_.begin()) {
        const auto& [first, length] = *std::prev(behind);
        const auto offset = static_cast<std::size_t>(address - first);
        if (offset < length) return std::min(bytes, chunk_bytes - offset % chunk_bytes);
    }
    return bytes;
}

}  // namespace pinwarden::cuda::detail
