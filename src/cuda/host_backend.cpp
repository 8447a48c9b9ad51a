// SPDX-License-Identifier: Apache-2.0
#include "cuda/host_backend.hpp"

#include "backend/refusal.hpp"

#include <pinwarden/core/bytes.hpp>
#include <pinwarden/core/release_failure.hpp>

#include <cstdint>
#include <utility>

#include <fmt/format.h>

namespace pinwarden::cuda::detail {
namespace {

using pinwarden::detail::pages_touching;
using pinwarden::detail::pages_within;

const char* advice(cudaError_t code) {
    switch (code) {
        case cudaErrorMemoryAllocation:
            return "free memory or pin less; the driver also needs room for its context on the device";
        case cudaErrorHostMemoryAlreadyRegistered:
            return "other code of this process has registered a page of it: release that, or copy to memory "
                   "of your "
                   "own pages";
        case cudaErrorInsufficientDriver:
        case cudaErrorNoDevice: return "run where there is a device, or set DS_PIN_MEMORY_BACKEND=native";
        case cudaErrorNotSupported:
            return "this memory cannot be registered here: let the library allocate it";
        default: return "look at the driver's log (`dmesg`), or set DS_PIN_MEMORY_BACKEND=native";
    }
}

}  // namespace

void* HostBackend::host_alloc(std::size_t length, std::size_t asked) const {
    void* memory = nullptr;
    const auto& entry = runtime_.calls().host_alloc;
    const Outcome outcome =
        runtime_.call_on(runtime_.home_device(), entry, &memory, length, unsigned{cudaHostAllocPortable});
    if (outcome.ok()) return memory;
    throw pinwarden::detail::refused(name(), fmt::format("{}({}, portable)", entry.name, length),
                                     runtime_.describe_answer_to(entry.name, outcome),
                                     static_cast<int>(outcome.code), asked, advice(outcome.code));
}

Outcome HostBackend::free_host(void* base) const noexcept {
    return runtime_.call_on(runtime_.home_device(), runtime_.calls().free_host, base);
}

HostBlock HostBackend::allocate(std::size_t bytes) {
    const std::size_t length = round_up(bytes, page_bytes());
    pinwarden::detail::require_available(name(), "cudaHostAlloc", length, bytes);
    void* const base = host_alloc(length, bytes);
    if (reinterpret_cast<std::uintptr_t>(base) % page_bytes() == 0) {
        return {.address = static_cast<std::byte*>(base),
                .bytes = bytes,
                .locked_bytes = length,
                .device_pinned = true};
    }
    // The runtime cuts small blocks out of larger ones, wherever there is room.
    if (const Outcome freed = free_host(base); !freed.ok() && !freed.unloading()) {
        report_release_failure({.text = "cudaFreeHost failed on a block that did not start with a page",
                                .address = base,
                                .bytes = length,
                                .code = static_cast<int>(freed.code)});
    }
    return allocate_with_margin(bytes, length);
}

HostBlock HostBackend::allocate_with_margin(std::size_t bytes, std::size_t length) {
    Bases one;  // makes the map's node first, so that nothing can fail once the memory is there
    one.emplace(nullptr, nullptr);
    Bases::node_type node = one.extract(one.begin());

    const std::size_t locked = checked_bytes(length / page_bytes() + 1, page_bytes());
    void* const base = host_alloc(locked, bytes);
    std::byte* const start = static_cast<std::byte*>(base);
    const std::size_t offset = reinterpret_cast<std::uintptr_t>(start) % page_bytes();
    std::byte* const address = offset == 0 ? start : start + (page_bytes() - offset);
    node.key() = address;
    node.mapped() = base;
    const std::scoped_lock lock(mutex_);
    bases_.insert(std::move(node));
    return {.address = address, .bytes = bytes, .locked_bytes = locked, .device_pinned = true};
}

void* HostBackend::base_of(const HostBlock& block) noexcept {
    // Only a block with a margin has more locked than its own whole pages.
    if (block.locked_bytes - block.bytes < page_bytes()) return block.address;
    Bases::node_type node;  // freed after the mutex is
    const std::scoped_lock lock(mutex_);
    // Taken out before the memory is freed, because another thread may be given the same addresses right
    // after.
    node = bases_.extract(block.address);
    return node.mapped();
}

UnpinAnswer HostBackend::deallocate(const HostBlock& block) noexcept {
    return unpin_answer(free_host(base_of(block)));
}

HostBlock HostBackend::register_memory(std::byte* address, std::size_t bytes) {
    const PageRange pages = pages_touching(address, bytes);
    // What else lies on the first and the last page belongs to somebody who may need it in a child of fork().
    if (const auto refusal = registration_.add(pages, pages_within(address, bytes))) {
        const std::string answer = registration_.answer_text(*refusal);
        const PinError error =
            pinwarden::detail::refused(name(), registration_.call_text(*refusal), answer, refusal->code, bytes,
                                       advice(refusal->outcome.code));
        if (!refusal->is_stuck()) throw error;
        report_release_failure(
            {.text = answer, .address = pages.first, .bytes = pages.length, .code = refusal->code});
        throw pinwarden::detail::stuck(error, pages.first, pages.length);
    }
    return {.address = address, .bytes = bytes, .locked_bytes = pages.length, .device_pinned = true};
}

UnpinAnswer HostBackend::unregister_memory(const HostBlock& block) noexcept {
    return registration_.remove(pages_touching(block.address, block.bytes),
                                pages_within(block.address, block.bytes));
}

}  // namespace pinwarden::cuda::detail
