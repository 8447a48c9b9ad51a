// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/backend/native_backend.hpp>

#include <pinwarden/core/bytes.hpp>
#include <pinwarden/core/process_memory.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <set>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <support/own_pages.hpp>

namespace pinwarden {

namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

bool done(const UnpinAnswer& answer) { return answer.status == UnpinStatus::done; }

}  // namespace

TEST_CASE("Trap 12: the kernel counts a native block from allocation to release", "[backend]") {
    // The sanitizers replace the C library's mlock by nothing; this holds in their builds only for a real
    // system call.
    const std::size_t bytes = GENERATE(std::size_t{1}, std::size_t{4096}, std::size_t{4097}, 3 * mib + 5);
    const auto backend = native_backend();
    const std::size_t before = kernel_locked_bytes();
    const HostBlock block = backend->allocate(bytes);
    CHECK(block.bytes == bytes);
    CHECK(block.locked_bytes == round_up(bytes, page_bytes()));
    CHECK(kernel_locked_bytes() == before + block.locked_bytes);
    std::memset(block.address, 0x5a, bytes);
    CHECK(kernel_locked_bytes() == before + block.locked_bytes);
    CHECK(done(backend->deallocate(block)));
    CHECK(kernel_locked_bytes() == before);
    CHECK_FALSE(testing::is_mapped(block.address));
}

TEST_CASE("Trap 11: two native blocks never share a page, so the release of one leaves the other locked",
          "[backend]") {
    const auto backend = native_backend();
    const std::size_t before = kernel_locked_bytes();
    std::vector<HostBlock> blocks;
    std::set<std::uintptr_t> pages;
    std::size_t locked = 0;
    for (std::size_t i = 0; i < 64; ++i) {
        blocks.push_back(backend->allocate(1 + 200 * i));
        const HostBlock& block = blocks.back();
        const auto begin = reinterpret_cast<std::uintptr_t>(block.address);
        CHECK(begin % page_bytes() == 0);
        for (std::size_t at = 0; at < block.locked_bytes; at += page_bytes()) {
            CHECK(pages.insert(begin + at).second);
        }
        locked += block.locked_bytes;
    }
    CHECK(kernel_locked_bytes() == before + locked);
    for (std::size_t i = 0; i < blocks.size(); i += 2) {
        locked -= blocks[i].locked_bytes;
        CHECK(done(backend->deallocate(blocks[i])));
        CHECK(kernel_locked_bytes() == before + locked);
    }
    for (std::size_t i = 1; i < blocks.size(); i += 2) CHECK(done(backend->deallocate(blocks[i])));
    CHECK(kernel_locked_bytes() == before);
}

TEST_CASE("A native block's pages are not the heap's", "[backend]") {
    const auto backend = native_backend();
    const HostBlock block = backend->allocate(100);
    const auto page = reinterpret_cast<std::uintptr_t>(block.address) / page_bytes();
    std::vector<std::vector<char>> heap;
    for (std::size_t i = 0; i < 2000; ++i) {
        heap.emplace_back(1 + i % 500);
        CHECK(reinterpret_cast<std::uintptr_t>(heap.back().data()) / page_bytes() != page);
    }
    CHECK(done(backend->deallocate(block)));
}

TEST_CASE("Large blocks start on a huge page and keep their exact size", "[backend]") {
    const std::size_t bytes = GENERATE(2 * mib, 2 * mib + 1, 4 * mib - 4096);
    const auto backend = native_backend();
    const std::size_t before = kernel_locked_bytes();
    const HostBlock block = backend->allocate(bytes);
    CHECK(reinterpret_cast<std::uintptr_t>(block.address) % (2 * mib) == 0);
    CHECK(block.locked_bytes == round_up(bytes, page_bytes()));
    CHECK(kernel_locked_bytes() == before + block.locked_bytes);
    // What the alignment left over is not kept.
    CHECK_FALSE(testing::is_mapped(block.address + block.locked_bytes));
    CHECK(done(backend->deallocate(block)));
}

TEST_CASE("Somebody else's memory is locked by whole pages, and stays theirs", "[backend]") {
    const auto backend = native_backend();
    const testing::OwnPages pages(4);
    std::ranges::fill(gsl::span(pages.data(), pages.bytes()), std::byte{7});
    const std::size_t before = kernel_locked_bytes();
    const HostBlock block = backend->register_memory(pages.data() + page_bytes() - 1, page_bytes() + 2);
    CHECK(block.address == pages.data() + page_bytes() - 1);
    CHECK(block.bytes == page_bytes() + 2);
    CHECK(block.locked_bytes == 3 * page_bytes());
    CHECK(kernel_locked_bytes() == before + 3 * page_bytes());
    CHECK(done(backend->unregister_memory(block)));
    CHECK(kernel_locked_bytes() == before);
    CHECK(std::ranges::all_of(gsl::span(pages.data(), pages.bytes()),
                              [](std::byte b) { return b == std::byte{7}; }));
}

TEST_CASE("Locking alone does not make memory reachable for a device, and the backend says so", "[backend]") {
    const auto backend = native_backend();
    const HostBlock block = backend->allocate(1);
    CHECK_FALSE(backend->is_device_pinned(block));
    CHECK(done(backend->deallocate(block)));
}

}  // namespace pinwarden
