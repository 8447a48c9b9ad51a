// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/backend/native_backend.hpp>

#include "backend/immortal.hpp"
#include "backend/native_pages.hpp"
#include "backend/refusal.hpp"

#include <pinwarden/core/bytes.hpp>
#include <pinwarden/core/process_memory.hpp>

#include <cerrno>
#include <cstdint>

#include <fmt/format.h>
#include <sys/mman.h>

namespace pinwarden {
namespace detail {
namespace {

constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;

// From this size on, what the machine can give is looked up first: a memory cgroup may kill instead of refusing.
// The look-up costs tens of microseconds, which locking this much hides.
constexpr std::size_t large_bytes = std::size_t{64} << 20;

struct PageRange {
    std::byte* first;
    std::size_t length;
};

// The whole pages that hold the bytes of `block`, by arithmetic that cannot overflow for memory that exists.
PageRange pages_of(std::byte* address, std::size_t bytes) noexcept {
    const std::size_t page = page_bytes();
    const std::size_t offset = reinterpret_cast<std::uintptr_t>(address) & (page - 1);
    return {address - offset, (offset + bytes + page - 1) & ~(page - 1)};
}

void require_available(std::string_view backend, std::size_t length, std::size_t asked) {
    if (length < large_bytes) return;
    const std::size_t available = available_bytes();
    if (length <= available) return;
    throw refused(backend, fmt::format("the look at the memory available before mmap({})", length),
                  fmt::format("{}, which is too little", format_bytes(available)), ENOMEM, asked,
                  "free memory, raise the memory limit of the cgroup, or pin less");
}

}  // namespace

std::byte* NativePages::map(std::size_t length, std::size_t asked) {
    // A block that is to lie on huge pages needs an aligned start; what the alignment leaves over is given back.
    const bool huge = length >= huge_page_bytes && length <= unlimited_bytes - huge_page_bytes;
    const std::size_t mapped = huge ? length + huge_page_bytes : length;
    void* const start = calls_.map_pages(mapped);
    if (start == MAP_FAILED) {
        const int code = errno;
        throw refused(name(), fmt::format("mmap({} bytes)", mapped), errno_text(code), code, asked,
                      "free memory or pin less; /proc/sys/vm/overcommit_memory and `ulimit -v` may forbid it too");
    }
    auto* const begin = static_cast<std::byte*>(start);
    if (!huge) return begin;

    const std::size_t offset = reinterpret_cast<std::uintptr_t>(begin) & (huge_page_bytes - 1);
    const std::size_t head = offset == 0 ? 0 : huge_page_bytes - offset;
    const std::size_t tail = mapped - head - length;
    std::byte* const first = begin + head;
    // Whatever cannot be given back costs addresses only: nothing there is touched or locked.
    if (head != 0) calls_.unmap_pages(begin, head);
    if (tail != 0) calls_.unmap_pages(first + length, tail);
    // Refused where huge pages are switched off; ordinary pages serve then.
    calls_.prefer_huge_pages(first, length);
    return first;
}

void NativePages::lock(std::byte* first, std::size_t length, std::size_t asked) {
    if (calls_.lock_pages(first, length) == 0) return;
    const int code = errno;
    throw refused(name(), fmt::format("mlock({}, {})", static_cast<void*>(first), length), errno_text(code), code,
                  asked, locking_advice(length));
}

HostBlock NativePages::allocate(std::size_t bytes) {
    const std::size_t length = round_up(bytes, page_bytes());
    require_available(name(), length, bytes);
    std::byte* const first = map(length, bytes);
    try {
        lock(first, length, bytes);
    } catch (...) {
        calls_.unmap_pages(first, length);
        throw;
    }
    return {first, bytes, length};
}

UnpinAnswer NativePages::deallocate(const HostBlock& block) noexcept {
    // Unmapping unlocks as well, and does both or nothing.
    if (calls_.unmap_pages(block.address, block.locked_bytes) == 0) return {};
    return {UnpinStatus::failed, "munmap", errno};
}

HostBlock NativePages::register_memory(std::byte* address, std::size_t bytes) {
    const PageRange pages = pages_of(address, bytes);
    try {
        lock(pages.first, pages.length, bytes);
    } catch (...) {
        // The kernel may have locked the pages up to the one that failed.
        calls_.unlock_pages(pages.first, pages.length);
        throw;
    }
    return {address, bytes, pages.length};
}

UnpinAnswer NativePages::unregister_memory(const HostBlock& block) noexcept {
    const PageRange pages = pages_of(block.address, block.bytes);
    if (calls_.unlock_pages(pages.first, pages.length) == 0) return {};
    return {UnpinStatus::failed, "munlock", errno};
}

}  // namespace detail

PinBackendPtr native_backend() noexcept {
    static detail::Immortal<detail::NativePages> instance(detail::kernel_calls());
    return PinBackendPtr(PinBackendPtr(), &instance.get());  // shares nothing, so it costs no counting
}

}  // namespace pinwarden
