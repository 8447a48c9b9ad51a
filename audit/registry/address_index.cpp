// SPDX-License-Identifier: Apache-2.0
#include "registry/address_index.hpp"

#include <pinwarden/core/bytes.hpp>

#include <algorithm>
#include <bit>
#include <new>

namespace pinwarden::audit {
namespace {

constexpr unsigned smallest_class = 12;  // one page; smaller blocks share its cells
constexpr unsigned class_bits = 6;

// Fibonacci hashing: neighbouring cells, which are the common case, land far apart.
std::uint64_t hash(std::uint64_t key) noexcept { return key * 0x9E3779B97F4A7C15U; }

unsigned class_of(std::size_t bytes) noexcept {
    return std::max(smallest_class, static_cast<unsigned>(std::bit_width(bytes - 1)));
}

struct Range {
    std::uintptr_t begin;
    std::uintptr_t end;
};

Range bytes_of(const Entry& entry) noexcept {
    const auto begin = reinterpret_cast<std::uintptr_t>(entry.block.address);
    return {begin, begin + entry.block.bytes};
}

Range pages_of(const Entry& entry) noexcept {
    const std::uintptr_t page = page_bytes();
    const Range bytes = bytes_of(entry);
    return {bytes.begin & ~(page - 1), (bytes.end + page - 1) & ~(page - 1)};
}

}  // namespace

unsigned AddressIndex::lowest_class(std::uint64_t classes) noexcept {
    return static_cast<unsigned>(std::countr_zero(classes));
}

std::uint64_t AddressIndex::key_of(unsigned size_class, std::uintptr_t address) noexcept {
    return (static_cast<std::uint64_t>(address >> size_class) << class_bits) | size_class;
}

// The top bits choose the table, those below them the bucket.
AddressIndex::Table& AddressIndex::table_of(std::uint64_t key) noexcept {
    constexpr unsigned table_bits = std::bit_width(table_count) - 1;
    return tables_[hash(key) >> (64 - table_bits)];
}

IndexNode*& AddressIndex::Table::bucket(std::uint64_t key) noexcept {
    if (bucket_count == 0) return lone_bucket;
    return buckets[(hash(key) >> 24) & (bucket_count - 1)];
}

void AddressIndex::Table::add(IndexNode& node) noexcept {
    if (node_count >= bucket_count) grow();
    IndexNode*& head = bucket(node.key);
    node.next = head;
    head = &node;
    ++node_count;
}

void AddressIndex::Table::remove(IndexNode& node) noexcept {
    IndexNode** link = &bucket(node.key);
    while (*link != &node) link = &(*link)->next;
    *link = node.next;
    node.next = nullptr;
    --node_count;
}

void AddressIndex::Table::grow() noexcept {
    const std::size_t wider = std::max(first_buckets, 2 * bucket_count);
    auto* const fresh = new (std::nothrow) IndexNode*[wider]();
    if (fresh == nullptr) return;  // longer chains are slower, not wrong

    IndexNode** const old = bucket_count == 0 ? &lone_bucket : buckets;
    const std::size_t old_count = std::max<std::size_t>(bucket_count, 1);
    IndexNode** const retired = buckets;
    IndexNode* chains = nullptr;  // all nodes, to be filed again
    for (std::size_t i = 0; i < old_count; ++i) {
        while (IndexNode* const node = old[i]) {
            old[i] = node->next;
            node->next = chains;
            chains = node;
        }
    }
    buckets = fresh;
    bucket_count = wider;
    delete[] retired;
    while (IndexNode* const node = chains) {
        chains = node->next;
        IndexNode*& head = bucket(node->key);
        node->next = head;
        head = node;
    }
}

void AddressIndex::insert(Entry& entry) noexcept {
    const unsigned size_class = class_of(entry.block.bytes);
    const std::uint64_t bit = std::uint64_t{1} << size_class;
    if ((used_classes_.load(std::memory_order_relaxed) & bit) == 0) {
        used_classes_.fetch_or(bit, std::memory_order_release);
    }
    const auto [begin, end] = bytes_of(entry);
    const std::array keys{key_of(size_class, begin), key_of(size_class, end - 1)};
    for (std::size_t i = 0; i < keys.size(); ++i) {
        IndexNode& node = entry.nodes[i];
        if (i == 1 && keys[0] == keys[1]) {
            node.entry = nullptr;  // one cell holds all of it
            return;
        }
        node.entry = &entry;
        node.key = keys[i];
        Table& table = table_of(node.key);
        const detail::CriticalSection lock(table.mutex);
        table.add(node);
    }
}

const std::byte* AddressIndex::insert_unless_overlapping(Entry& entry) noexcept {
    const detail::CriticalSection lock(registration_mutex_);
    const auto [begin, end] = pages_of(entry);
    const std::byte* const other = overlapping(begin, end);
    if (other == nullptr) insert(entry);
    return other;
}

const std::byte* AddressIndex::overlapping(std::uintptr_t begin, std::uintptr_t end) noexcept {
    for (std::uint64_t classes = used_classes_.load(std::memory_order_acquire); classes != 0;
         classes &= classes - 1) {
        const unsigned size_class = lowest_class(classes);
        const std::uintptr_t last_cell = (end - 1) >> size_class;
        for (std::uintptr_t cell = begin >> size_class; cell <= last_cell; ++cell) {
            const std::uint64_t key = key_of(size_class, cell << size_class);
            Table& table = table_of(key);
            const detail::CriticalSection lock(table.mutex);
            for (const IndexNode* node = table.first(key); node != nullptr; node = node->next) {
                if (node->key != key) continue;
                const Range other = pages_of(*node->entry);
                if (other.begin < end && begin < other.end) return node->entry->block.address;
            }
        }
    }
    return nullptr;
}

void AddressIndex::erase(Entry& entry) noexcept {
    for (IndexNode& node : entry.nodes) {
        if (node.entry == nullptr) continue;
        Table& table = table_of(node.key);
        const detail::CriticalSection lock(table.mutex);
        table.remove(node);
        node.entry = nullptr;
    }
}

void AddressIndex::lock_all() noexcept {
    registration_mutex_.lock();
    for (Table& table : tables_) table.mutex.lock();
}

void AddressIndex::unlock_all() noexcept {
    for (Table& table : tables_) table.mutex.unlock();
    registration_mutex_.unlock();
}

void AddressIndex::forget_all() noexcept {
    for (Table& table : tables_) {
        std::fill_n(table.buckets, table.bucket_count, nullptr);
        table.lone_bucket = nullptr;
        table.node_count = 0;
    }
}

}  // namespace pinwarden::audit
