// SPDX-License-Identifier: Apache-2.0
#include <conformance/pin_backend_contract.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <thread>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_adapters.hpp>
#include <catch2/generators/catch_generators_range.hpp>

#include <pinwarden/core/bytes.hpp>
#include <pinwarden/core/process_memory.hpp>

#include <support/own_pages.hpp>

namespace pinwarden::testing {

std::vector<PinBackendCase>& pin_backend_cases() {
    static std::vector<PinBackendCase> cases;
    return cases;
}

namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

// Runs the rest of the test case once for each implementation.
PinBackendCase each_backend() {
    PinBackendCase chosen = GENERATE(from_range(pin_backend_cases()));
    UNSCOPED_INFO("backend: " << chosen.name);
    return chosen;
}

bool is_page_start(const std::byte* address) {
    return reinterpret_cast<std::uintptr_t>(address) % page_bytes() == 0;
}

bool done(const UnpinAnswer& answer) { return answer.status == UnpinStatus::done; }

// What the kernel's count must have grown by while `block` is held.
std::size_t counted(const PinBackendCase& chosen, const HostBlock& block) {
    return chosen.kernel_counts ? block.locked_bytes : 0;
}

bool filled_with(gsl::span<const std::byte> bytes, std::byte value) {
    return std::ranges::all_of(bytes, [value](std::byte byte) { return byte == value; });
}

}  // namespace

TEST_CASE("A backend has a name and says whether it pins", "[backend]") {
    const auto chosen = each_backend();
    const PinBackendPtr backend = chosen.make();
    CHECK_FALSE(backend->name().empty());
    CHECK(backend->pins() == (chosen.name != "pageable"));
}

TEST_CASE("A block has the exact size asked, starts on a page and can be written to its last byte",
          "[backend]") {
    const auto chosen = each_backend();
    const PinBackendPtr backend = chosen.make();
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{4095}, std::size_t{4096}, std::size_t{4097},
                                    mib, 2 * mib, 3 * mib + 1}) {
        const std::size_t before = kernel_locked_bytes();
        const HostBlock block = backend->allocate(bytes);
        REQUIRE(block.address != nullptr);
        CHECK(block.bytes == bytes);
        CHECK(is_page_start(block.address));
        CHECK(block.locked_bytes == (backend->pins() ? round_up(bytes, page_bytes()) : 0));
        CHECK(kernel_locked_bytes() == before + counted(chosen, block));
        std::memset(block.address, 0x11, bytes);
        CHECK(filled_with(gsl::span(block.address, bytes), std::byte{0x11}));
        CHECK(done(backend->deallocate(block)));
        CHECK(kernel_locked_bytes() == before);
    }
}

TEST_CASE("Blocks held at the same time share no byte", "[backend]") {
    const auto chosen = each_backend();
    const PinBackendPtr backend = chosen.make();
    const std::size_t before = kernel_locked_bytes();
    std::vector<HostBlock> blocks;
    for (std::size_t i = 0; i < 40; ++i) {
        blocks.push_back(backend->allocate(1 + i * 333));
        std::memset(blocks.back().address, static_cast<int>(i), blocks.back().bytes);
    }
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        CHECK(filled_with(gsl::span(blocks[i].address, blocks[i].bytes), static_cast<std::byte>(i)));
    }
    for (std::size_t i = 0; i < blocks.size(); i += 2) CHECK(done(backend->deallocate(blocks[i])));
    for (std::size_t i = 1; i < blocks.size(); i += 2) {
        CHECK(filled_with(gsl::span(blocks[i].address, blocks[i].bytes), static_cast<std::byte>(i)));
        CHECK(done(backend->deallocate(blocks[i])));
    }
    CHECK(kernel_locked_bytes() == before);
}

TEST_CASE("Registered memory keeps its address, its content and its owner", "[backend]") {
    const auto chosen = each_backend();
    const PinBackendPtr backend = chosen.make();
    const OwnPages pages(5);
    std::memset(pages.data(), 0x22, pages.bytes());
    const std::size_t page = page_bytes();
    struct Range {
        std::size_t offset, bytes, locked_pages;
    };
    for (const Range range : {Range{0, 1, 1}, Range{page - 1, 1, 1}, Range{page - 1, 2, 2}, Range{0, page, 1},
                              Range{10, page, 2}, Range{100, 3 * page, 4}, Range{0, 5 * page, 5}}) {
        const std::size_t before = kernel_locked_bytes();
        const HostBlock block = backend->register_memory(pages.data() + range.offset, range.bytes);
        CHECK(block.address == pages.data() + range.offset);
        CHECK(block.bytes == range.bytes);
        CHECK(block.locked_bytes == (backend->pins() ? range.locked_pages * page : 0));
        CHECK(kernel_locked_bytes() == before + counted(chosen, block));
        CHECK(done(backend->unregister_memory(block)));
        CHECK(kernel_locked_bytes() == before);
        CHECK(filled_with(gsl::span(pages.data(), pages.bytes()), std::byte{0x22}));
    }
}

TEST_CASE("Neighbouring pages can be registered and released apart", "[backend]") {
    const auto chosen = each_backend();
    const PinBackendPtr backend = chosen.make();
    const OwnPages pages(2);
    const std::size_t before = kernel_locked_bytes();
    const HostBlock first = backend->register_memory(pages.data(), page_bytes());
    const HostBlock second = backend->register_memory(pages.data() + page_bytes(), page_bytes());
    CHECK(done(backend->unregister_memory(first)));
    CHECK(kernel_locked_bytes() == before + counted(chosen, second));
    CHECK(done(backend->unregister_memory(second)));
    CHECK(kernel_locked_bytes() == before);
}

TEST_CASE("A backend is reachable by a device only where it says so, and the host backends are not",
          "[backend]") {
    const auto chosen = each_backend();
    const PinBackendPtr backend = chosen.make();
    const HostBlock block = backend->allocate(1);
    CHECK_FALSE(backend->is_device_pinned(block));
    CHECK(done(backend->deallocate(block)));
}

TEST_CASE("A backend serves many threads at once", "[backend][threads]") {
    const auto chosen = each_backend();
    const PinBackendPtr backend = chosen.make();
    const std::size_t before = kernel_locked_bytes();
    std::atomic<bool> intact{true};
    {
        std::vector<std::jthread> threads;
        for (unsigned number = 0; number < 8; ++number) {
            threads.emplace_back([&, number] {
                for (std::size_t round = 0; round < 60; ++round) {
                    const HostBlock block = backend->allocate(1 + round * 100);
                    std::memset(block.address, static_cast<int>(number), block.bytes);
                    const gsl::span<const std::byte> bytes(block.address, block.bytes);
                    if (!filled_with(bytes, static_cast<std::byte>(number))) intact = false;
                    if (!done(backend->deallocate(block))) intact = false;
                }
            });
        }
    }
    CHECK(intact);
    CHECK(kernel_locked_bytes() == before);
}

}  // namespace pinwarden::testing
