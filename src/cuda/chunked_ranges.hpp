// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Where host memory that was registered in several pieces is cut.
///
/// The runtime takes a copy only if its host side lies within one registration, so a copy that goes over a
/// cut is made in parts.

#include <atomic>
#include <cstddef>
#include <map>
#include <mutex>

#include <pinwarden/core/export.hpp>

#include "backend/device_registrar.hpp"

namespace pinwarden::cuda::detail {

/// Knows the ranges of more than one chunk, which are few. Thread-safe.
class PINWARDEN_API ChunkedRanges {
public:
    static constexpr std::size_t chunk_bytes = std::size_t{1} << 30;

    using Ranges = std::map<const std::byte*, std::size_t>;

    /// Room for one range, so that adding it cannot fail.
    /// @throws std::bad_alloc
    [[nodiscard]] static Ranges::node_type make_node();

    void add(Ranges::node_type node, pinwarden::detail::PageRange pages) noexcept;
    void remove(const std::byte* first) noexcept;

    /// How many of these bytes can be copied at once, counted from `address`. At least one if `bytes` is.
    [[nodiscard]] std::size_t in_one_piece(const std::byte* address, std::size_t bytes) const noexcept;

private:
    std::atomic<std::size_t> count_{0};
    mutable std::mutex mutex_;
    Ranges ranges_;
};

}  // namespace pinwarden::cuda::detail
