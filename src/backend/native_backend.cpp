// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/backend/native_backend.hpp>

#include "backend/cuda_support.hpp"
#include "core/immortal.hpp"
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

bool NativePages::register_with_device(PageRange pages, PageRange not_inherited, std::size_t asked) {
    if (registrar_ == nullptr) return false;
    switch (registrar_->register_pages(pages, not_inherited)) {
        case DeviceRegistrar::Outcome::registered: return true;
        case DeviceRegistrar::Outcome::refused: return false;
        case DeviceRegistrar::Outcome::stuck: break;
    }
    // The device may still write to some of the pages: they stay mapped and locked for good.
    throw stuck(refused(name(),
                        fmt::format("the registration of {} bytes at {} with the device", pages.length,
                                    static_cast<void*>(pages.first)),
                        registrar_->status().last_refusal, EIO, asked,
                        "the driver keeps a part of the pages, which are lost to this process; restart it"),
                pages.first, pages.length);
}

UnpinAnswer NativePages::unregister_from_device(PageRange pages, PageRange not_inherited) noexcept {
    const UnpinAnswer answer = registrar_->unregister_pages(pages, not_inherited);
    // Work of the device may still arrive in the pages, so they stay mapped; but the kernel's lock can go, and its
    // count agrees with the audit's then.
    if (answer.status == UnpinStatus::unloading) calls_.unlock_pages(pages.first, pages.length);
    return answer;
}

HostBlock NativePages::allocate(std::size_t bytes) {
    const std::size_t length = round_up(bytes, page_bytes());
    require_available(name(), "mmap", length, bytes);
    std::byte* const first = map(length, bytes);
    try {
        lock(first, length, bytes);
    } catch (...) {
        calls_.unmap_pages(first, length);
        throw;
    }
    const bool registered = register_with_device({first, length}, {first, length}, bytes);
    return {.address = first,
            .bytes = bytes,
            .locked_bytes = length,
            .device_pinned = registered,
            .own_pages = true};
}

UnpinAnswer NativePages::deallocate(const HostBlock& block) noexcept {
    if (block.device_pinned) {
        const PageRange pages{block.address, block.locked_bytes};
        const UnpinAnswer answer = unregister_from_device(pages, pages);
        if (answer.status != UnpinStatus::done) return answer;
    }
    // Unmapping unlocks as well, and does both or nothing.
    if (calls_.unmap_pages(block.address, block.locked_bytes) == 0) return {};
    return {UnpinStatus::failed, "munmap", errno};
}

HostBlock NativePages::register_memory(std::byte* address, std::size_t bytes) {
    const PageRange pages = pages_touching(address, bytes);
    try {
        lock(pages.first, pages.length, bytes);
    } catch (...) {
        // The kernel may have locked the pages up to the one that failed.
        calls_.unlock_pages(pages.first, pages.length);
        throw;
    }
    // What else lies on the first and the last page belongs to somebody who may need it in a child of fork().
    const bool registered = register_with_device(pages, pages_within(address, bytes), bytes);
    return {.address = address, .bytes = bytes, .locked_bytes = pages.length, .device_pinned = registered};
}

UnpinAnswer NativePages::unregister_memory(const HostBlock& block) noexcept {
    const PageRange pages = pages_touching(block.address, block.bytes);
    if (block.device_pinned) {
        const UnpinAnswer answer = unregister_from_device(pages, pages_within(block.address, block.bytes));
        if (answer.status != UnpinStatus::done) return answer;
    }
    if (calls_.unlock_pages(pages.first, pages.length) == 0) return {};
    return {UnpinStatus::failed, "munlock", errno};
}

}  // namespace detail

PinBackendPtr native_backend() noexcept {
    static detail::Immortal<detail::NativePages> instance(detail::kernel_calls(),
                                                           detail::device_registrar());
    return PinBackendPtr(PinBackendPtr(), &instance.get());  // shares nothing, so it costs no counting
}

}  // namespace pinwarden
