// SPDX-License-Identifier: Apache-2.0
#include <registry/address_index.hpp>

#include <pinwarden/core/bytes.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include <support/failing_new.hpp>

namespace pinwarden::audit {

namespace {

constexpr std::size_t mib = std::size_t{1} << 20;
constexpr std::uintptr_t arena = std::uintptr_t{0x10} << 40;  // nothing there is ever touched

// An index lives as long as the process, and never frees its tables; leak checkers are to see them as
// reachable.
AddressIndex& fresh_index() {
    static std::deque<AddressIndex> indices;
    return indices.emplace_back();
}

std::byte* at(std::uintptr_t address) { return reinterpret_cast<std::byte*>(address); }

void place(Entry& entry, std::uintptr_t address, std::size_t bytes) { entry.block = {at(address), bytes, 0}; }

const Entry* found(AddressIndex& index, std::uintptr_t address) {
    const Entry* result = nullptr;
    const bool any = index.find(at(address), [&](const Entry& entry) { result = &entry; });
    CHECK(any == (result != nullptr));
    return result;
}

// The same questions answered by looking at everything.
struct Model {
    std::vector<std::unique_ptr<Entry>> entries;

    [[nodiscard]] const Entry* find(std::uintptr_t address) const {
        for (const auto& entry : entries) {
            const auto begin = reinterpret_cast<std::uintptr_t>(entry->block.address);
            if (begin <= address && address < begin + entry->block.bytes) return entry.get();
        }
        return nullptr;
    }

    [[nodiscard]] bool shares_page(std::uintptr_t begin, std::size_t bytes) const {
        const std::uintptr_t page = page_bytes();
        return std::ranges::any_of(entries, [&](const auto& entry) {
            const auto other = reinterpret_cast<std::uintptr_t>(entry->block.address);
            const std::uintptr_t other_last = (other + entry->block.bytes - 1) / page;
            return other / page <= (begin + bytes - 1) / page && begin / page <= other_last;
        });
    }
};

}  // namespace

TEST_CASE("A block is found by its first byte, its last and any between, and not by its neighbours",
          "[audit]") {
    AddressIndex& index = fresh_index();
    for (const std::size_t bytes :
         {std::size_t{1}, std::size_t{2}, std::size_t{4095}, std::size_t{4096}, std::size_t{4097},
          std::size_t{65536}, 3 * mib + 1, 64 * mib, 1024 * mib}) {
        for (const std::uintptr_t offset :
             {std::uintptr_t{0}, std::uintptr_t{1}, std::uintptr_t{4095}, mib - 1}) {
            Entry entry;
            const std::uintptr_t first = arena + offset;
            place(entry, first, bytes);
            index.insert(entry);
            CHECK(found(index, first) == &entry);
            CHECK(found(index, first + bytes / 2) == &entry);
            CHECK(found(index, first + bytes - 1) == &entry);
            CHECK(found(index, first - 1) == nullptr);
            CHECK(found(index, first + bytes) == nullptr);
            index.erase(entry);
            CHECK(found(index, first) == nullptr);
        }
    }
}

TEST_CASE("An empty index holds no address", "[audit]") {
    AddressIndex& index = fresh_index();
    CHECK(found(index, 0) == nullptr);
    CHECK(found(index, arena) == nullptr);
    CHECK(found(index, UINTPTR_MAX) == nullptr);
}

TEST_CASE("Adjacent blocks are told apart at the byte", "[audit]") {
    AddressIndex& index = fresh_index();
    std::deque<Entry> entries;
    std::uintptr_t next = arena;
    for (std::size_t i = 1; i <= 300; ++i) {
        place(entries.emplace_back(), next, i * 37);  // neither pages nor powers of two
        next += i * 37;
        index.insert(entries.back());
    }
    for (const Entry& entry : entries) {
        const auto first = reinterpret_cast<std::uintptr_t>(entry.block.address);
        CHECK(found(index, first) == &entry);
        CHECK(found(index, first + entry.block.bytes - 1) == &entry);
    }
    CHECK(found(index, next) == nullptr);
    for (Entry& entry : entries) index.erase(entry);
    CHECK(found(index, arena) == nullptr);
}

TEST_CASE("An entry that was refused or erased can be filed again elsewhere", "[audit]") {
    AddressIndex& index = fresh_index();
    Entry first;
    Entry second;
    place(first, arena + 100, 10);
    place(second, arena + 200, 10);
    CHECK(index.insert_unless_overlapping(first) == nullptr);
    CHECK(index.insert_unless_overlapping(second) == first.block.address);
    CHECK(found(index, arena + 200) == nullptr);
    index.erase(second);  // was never filed
    place(second, arena + 10 * mib, 3 * mib);
    CHECK(index.insert_unless_overlapping(second) == nullptr);
    CHECK(found(index, arena + 11 * mib) == &second);
    index.erase(first);
    place(first, arena + 13 * mib, 1);
    CHECK(index.insert_unless_overlapping(first) == nullptr);
    CHECK(found(index, arena + 100) == nullptr);
    CHECK(found(index, arena + 13 * mib) == &first);
    index.erase(first);
    index.erase(second);
}

TEST_CASE("A range that shares a page is refused from either side, a neighbouring page is not", "[audit]") {
    AddressIndex& index = fresh_index();
    const std::size_t page = page_bytes();
    Entry middle;
    place(middle, arena + 10 * page + 8, 3 * page);  // its bytes lie in pages 10 to 13
    REQUIRE(index.insert_unless_overlapping(middle) == nullptr);
    const auto refused = [&](std::uintptr_t offset, std::size_t bytes) {
        Entry other;
        place(other, arena + offset, bytes);
        const bool overlaps = index.insert_unless_overlapping(other) != nullptr;
        index.erase(other);
        return overlaps;
    };
    CHECK(refused(10 * page, 1));
    CHECK(refused(13 * page + page - 1, 1));
    CHECK(refused(9 * page, page + 1));
    CHECK(refused(0, 64 * page));
    CHECK(refused(11 * page, page));
    CHECK(refused(0, 512 * mib));
    CHECK_FALSE(refused(9 * page, page));
    CHECK_FALSE(refused(14 * page, 1));
    CHECK_FALSE(refused(14 * page, 512 * mib));
    index.erase(middle);
    CHECK_FALSE(refused(10 * page, 4 * page));
}

TEST_CASE("Thousands of random blocks come, go and are looked up as in a linear list", "[audit]") {
    AddressIndex& index = fresh_index();
    Model model;
    std::mt19937_64 random(20240229);
    const auto below = [&random](std::uint64_t limit) { return random() % limit; };
    constexpr std::uintptr_t span = 256 * mib;
    std::size_t refused = 0;
    bool same = true;
    for (std::size_t round = 0; round < 20000; ++round) {
        if (below(5) < 3 && model.entries.size() < 150) {
            auto entry = std::make_unique<Entry>();
            const std::size_t bytes =
                1 + below(std::uint64_t{1} << (1 + below(23)));  // all size classes alike
            const std::uintptr_t address = arena + below(span);
            place(*entry, address, bytes);
            const bool expected = model.shares_page(address, bytes);
            same = same && (index.insert_unless_overlapping(*entry) != nullptr) == expected;
            refused += expected ? 1 : 0;
            if (!expected) model.entries.push_back(std::move(entry));
        } else if (!model.entries.empty()) {
            std::swap(model.entries[below(model.entries.size())], model.entries.back());
            index.erase(*model.entries.back());
            model.entries.pop_back();
        }
        for (int i = 0; i < 4; ++i) {
            std::uintptr_t address = arena + below(span);
            if (i > 0 && !model.entries.empty()) {
                const HostBlock& block = model.entries[below(model.entries.size())]->block;
                const auto first = reinterpret_cast<std::uintptr_t>(block.address);
                address = i == 1 ? first - 1 + below(3) : first + block.bytes - 2 + below(4);
            }
            const Entry* hit = nullptr;
            index.find(at(address), [&](const Entry& entry) { hit = &entry; });
            same = same && hit == model.find(address);
        }
        if (!same) FAIL("differs from the linear list in round " << round);
    }
    CHECK(refused > 100);
    for (const auto& entry : model.entries) index.erase(*entry);
}

TEST_CASE("Without memory for its tables the index is slower, not wrong", "[audit][failing_new]") {
    AddressIndex& index = fresh_index();
    std::deque<Entry> entries(1000);
    for (std::size_t i = 0; i < entries.size(); ++i) {
        place(entries[i], arena + i * 2 * page_bytes(), page_bytes() + 1);
        const testing::FailingNew failing(1);  // every growth wants one allocation
        index.insert(entries[i]);
    }
    for (std::size_t i = 0; i < entries.size(); ++i) {
        CHECK(found(index, arena + i * 2 * page_bytes() + page_bytes()) == &entries[i]);
    }
    for (std::size_t i = 0; i < entries.size(); i += 2) index.erase(entries[i]);
    for (std::size_t i = 0; i < entries.size(); i += 2) index.insert(entries[i]);  // now there is memory
    for (Entry& entry : entries) {
        CHECK(found(index, reinterpret_cast<std::uintptr_t>(entry.block.address)) == &entry);
        index.erase(entry);
    }
}

TEST_CASE("Of many registrations of one page at the same time exactly one succeeds", "[audit]") {
    AddressIndex& index = fresh_index();
    for (std::size_t round = 0; round < 50; ++round) {
        std::deque<Entry> entries(8);
        std::atomic<std::size_t> filed{0};
        {
            std::vector<std::jthread> threads;
            for (std::size_t i = 0; i < entries.size(); ++i) {
                place(entries[i], arena + i * 16, 16);
                threads.emplace_back(
                    [&, i] { filed += index.insert_unless_overlapping(entries[i]) == nullptr ? 1 : 0; });
            }
        }
        CHECK(filed == 1);
        for (Entry& entry : entries) index.erase(entry);
    }
}

}  // namespace pinwarden::audit
