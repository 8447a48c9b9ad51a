// SPDX-License-Identifier: Apache-2.0
#include "registry/memory_tools.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>

// A distribution package that not every machine has; without it Valgrind is not told anything.
#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#else
#define RUNNING_ON_VALGRIND 0
#define VALGRIND_MALLOCLIKE_BLOCK(address, size, red_zone, zeroed) static_cast<void>(address)
#define VALGRIND_FREELIKE_BLOCK(address, red_zone) static_cast<void>(address)
#define VALGRIND_MAKE_MEM_NOACCESS(address, size) static_cast<void>(address)
#endif

// Defined by a sanitizer's runtime where there is one, and null where not: the library need not be built with it.
extern "C" {
[[gnu::weak]] void __asan_poison_memory_region(const volatile void* address, std::size_t size);
[[gnu::weak]] void __asan_unpoison_memory_region(const volatile void* address, std::size_t size);
[[gnu::weak]] void __lsan_register_root_region(const void* address, std::size_t size);
[[gnu::weak]] void __lsan_unregister_root_region(const void* address, std::size_t size);
[[gnu::weak]] void __tsan_write_range(void* address, unsigned long size);
}

namespace pinwarden::audit {
namespace memory_tools {
namespace {

bool has_asan() noexcept { return __asan_poison_memory_region != nullptr; }
bool has_lsan() noexcept { return __lsan_register_root_region != nullptr; }
bool has_tsan() noexcept { return __tsan_write_range != nullptr; }
bool has_valgrind() noexcept { return RUNNING_ON_VALGRIND != 0; }

// Whole pages that the caller did not ask for all of.
std::byte* end_of_bytes(const HostBlock& block) noexcept { return block.address + block.bytes; }
std::size_t spare_bytes(const HostBlock& block) noexcept { return block.locked_bytes - block.bytes; }

}  // namespace

std::uint8_t look() noexcept {
    const bool heap = has_asan() || has_lsan() || has_valgrind();
    const bool pages = heap || has_tsan();
    const auto answer = static_cast<std::uint8_t>(known | (heap ? finds_leaks : 0) | (pages ? watches_pages : 0));
    found.store(answer, std::memory_order_relaxed);
    return answer;
}

void tell_begin(const HostBlock& block) noexcept {
    if (has_asan()) {
        __asan_unpoison_memory_region(block.address, block.bytes);
        __asan_poison_memory_region(end_of_bytes(block), spare_bytes(block));
    }
    if (has_lsan()) __lsan_register_root_region(block.address, block.bytes);
    if (has_valgrind()) {
        VALGRIND_MALLOCLIKE_BLOCK(block.address, block.bytes, 0, 0);
        static_cast<void>(VALGRIND_MAKE_MEM_NOACCESS(end_of_bytes(block), spare_bytes(block)));
    }
}

void tell_end(const HostBlock& block) noexcept {
    // The race is found in the first pages as well as in all of them, for less.
    constexpr std::size_t most_written = std::size_t{1} << 16;
    if (has_tsan()) __tsan_write_range(block.address, std::min(block.bytes, most_written));
    if (has_lsan()) __lsan_unregister_root_region(block.address, block.bytes);
    if (has_asan()) __asan_poison_memory_region(block.address, block.locked_bytes);
    if (has_valgrind()) VALGRIND_FREELIKE_BLOCK(block.address, 0);
}

void tell_return(const HostBlock& block) noexcept {
    if (has_asan()) __asan_unpoison_memory_region(block.address, block.locked_bytes);
}

}  // namespace memory_tools

void* HandlePointer::make_witness(Entry& entry) {
    // By malloc(), because programs replace `operator new`.
    void* const witness = std::malloc(std::max(entry.block.bytes, sizeof(Entry*)));
    if (witness == nullptr) throw std::bad_alloc();
    *static_cast<Entry**>(witness) = &entry;
    return witness;
}

void HandlePointer::free_witness(void* witness) noexcept { std::free(witness); }

}  // namespace pinwarden::audit
