// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Which entry holds an address, first byte or any other, in time that does not depend on the number of entries.
///
/// A block of `n` bytes belongs to the size class `k` with 2^k >= n. It overlaps at most two of the aligned cells of
/// 2^k bytes into which the address space divides, and is filed in a hash table under each of those (class, cell)
/// pairs. A look-up probes one cell per class that was ever used, a dozen at most in practice; blocks do not overlap,
/// so no cell holds more than three of one class beyond the smallest, which is one page.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include <pinwarden/core/export.hpp>

#include "core/critical_section.hpp"
#include "registry/entry.hpp"

namespace pinwarden::audit {

/// Thread-safe and constant-initialised. A table's mutex is held for the length of one bucket only, never across a
/// driver or kernel call.
class PINWARDEN_API AddressIndex {
public:
    /// Files `entry`, whose `block` must be set and stay as it is until erase().
    void insert(Entry& entry) noexcept;

    /// As insert(), unless a page of `entry`'s block is also a page of an entry filed before.
    /// @returns that other entry's first byte, or null if `entry` was filed.
    [[nodiscard]] const std::byte* insert_unless_overlapping(Entry& entry) noexcept;

    /// Removes `entry`; when it returns no look-up is using it.
    void erase(Entry& entry) noexcept;

    /// Around a fork, as Ledger's functions of these names.
    void lock_all() noexcept;
    void unlock_all() noexcept;
    void forget_all() noexcept;

    /// Calls `visit(entry)` for the entry that holds `address`, while it cannot be erased.
    /// @returns whether there is one.
    template <typename Visit>
    bool find(const void* address, Visit&& visit) {
        const auto wanted = reinterpret_cast<std::uintptr_t>(address);
        for (std::uint64_t classes = used_classes_.load(std::memory_order_acquire); classes != 0;
             classes &= classes - 1) {
            const std::uint64_t key = key_of(lowest_class(classes), wanted);
            Table& table = table_of(key);
            const detail::CriticalSection lock(table.mutex);
            for (const IndexNode* node = table.first(key); node != nullptr; node = node->next) {
                if (node->key != key) continue;
                const auto begin = reinterpret_cast<std::uintptr_t>(node->entry->block.address);
                if (wanted - begin < node->entry->block.bytes) {
                    visit(*node->entry);
                    return true;
                }
            }
        }
        return false;
    }

private:
    // A power of two. All are locked around a fork, and ThreadSanitizer gives up when a thread holds more than 64.
    static constexpr std::size_t table_count = 32;
    static constexpr std::size_t first_buckets = 64;

    struct alignas(64) Table {
        std::mutex mutex{};
        IndexNode** buckets = nullptr;  // never freed; a power of two of them
        std::size_t bucket_count = 0;
        std::size_t node_count = 0;
        IndexNode* lone_bucket = nullptr;  // serves while there was no memory for any other

        [[nodiscard]] IndexNode*& bucket(std::uint64_t key) noexcept;
        [[nodiscard]] IndexNode* first(std::uint64_t key) noexcept { return bucket(key); }
        void add(IndexNode& node) noexcept;
        void remove(IndexNode& node) noexcept;
        void grow() noexcept;
    };

    [[nodiscard]] static unsigned lowest_class(std::uint64_t classes) noexcept;
    [[nodiscard]] static std::uint64_t key_of(unsigned size_class, std::uintptr_t address) noexcept;
    [[nodiscard]] Table& table_of(std::uint64_t key) noexcept;
    [[nodiscard]] const std::byte* overlapping(std::uintptr_t begin, std::uintptr_t end) noexcept;

    std::array<Table, table_count> tables_{};
    std::atomic<std::uint64_t> used_classes_{0};  // bit k: some block was of class k; never cleared
    std::mutex registration_mutex_{};             // makes looking for an overlap and filing one step
};

}  // namespace pinwarden::audit
