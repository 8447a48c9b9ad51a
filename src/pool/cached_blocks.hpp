// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Cached entries by size and by age: the newest of a size is taken first, because its pages are likeliest to be in
/// the processor's caches, and the oldest of all is dropped first.

#include <cstddef>
#include <unordered_map>

#include "registry/entry.hpp"

namespace pinwarden::detail {

/// A list threaded through entries by one of their pairs of links, newest first.
template <audit::CacheLinks audit::Entry::*Links>
class EntryList {
public:
    [[nodiscard]] audit::Entry* newest() const noexcept { return newest_; }
    [[nodiscard]] audit::Entry* oldest() const noexcept { return oldest_; }

    void add(audit::Entry& entry) noexcept {
        entry.*Links = {nullptr, newest_};
        (newest_ == nullptr ? oldest_ : (newest_->*Links).newer) = &entry;
        newest_ = &entry;
    }

    void remove(audit::Entry& entry) noexcept {
        const audit::CacheLinks links = entry.*Links;
        (links.newer == nullptr ? newest_ : (links.newer->*Links).older) = links.older;
        (links.older == nullptr ? oldest_ : (links.older->*Links).newer) = links.newer;
        entry.*Links = {};
    }

private:
    audit::Entry* newest_ = nullptr;
    audit::Entry* oldest_ = nullptr;
};

/// Not thread-safe. Needs memory for a size that it sees for the first time, in take() only.
class CachedBlocks {
public:
    /// The newest entry of this size, removed; null if there is none.
    /// @throws std::bad_alloc
    [[nodiscard]] audit::Entry* take(std::size_t bytes);

    /// Adds an entry of this size, whole pages.
    /// @returns whether it did: a size has to be asked for before it can be kept.
    [[nodiscard]] bool add(audit::Entry& entry, std::size_t bytes) noexcept;

    /// The entry that was added first, removed. @pre there is one
    [[nodiscard]] audit::Entry* take_oldest() noexcept;

    [[nodiscard]] std::size_t count() const noexcept { return count_; }
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

private:
    struct Size {
        std::size_t bytes = 0;
        EntryList<&audit::Entry::among_equals> entries{};
    };

    [[nodiscard]] Size* find(std::size_t bytes) noexcept;
    void remove(Size& size, audit::Entry& entry) noexcept;

    std::unordered_map<std::size_t, Size> sizes_{};
    Size* recent_ = nullptr;  ///< the size of the last call: mostly that of the next one too
    EntryList<&audit::Entry::among_all> all_{};
    std::size_t count_ = 0;
    std::size_t bytes_ = 0;
};

}  // namespace pinwarden::detail
