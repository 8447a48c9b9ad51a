// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// What AddressSanitizer, LeakSanitizer, ThreadSanitizer and Valgrind cannot know of pins by themselves.
///
/// They watch the heap, and pinned pages come from the kernel. So where one of them is present, which is found out
/// when the program runs:
/// - Each handle owns one ordinary heap block of its pin's size, the *witness*, and points to it instead of to its
///   entry; nothing else does. A handle that is lost is reported as that block: with the pin's size and stack.
/// - Pages of our own are searched for pointers to the heap, and are out of bounds beyond the bytes asked for, while
///   a pool keeps them, and after they were unpinned.
/// - The end of a block counts as a write to it, so that a use that does not happen before it is a race.
///
/// Without such a tool each of these functions costs the look at one byte.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <pinwarden/backend/pin_backend.hpp>

#include "registry/entry.hpp"

namespace pinwarden::audit {

namespace memory_tools {

inline constexpr std::uint8_t unknown = 0;
inline constexpr std::uint8_t known = 1;
inline constexpr std::uint8_t finds_leaks = 2;   ///< lost heap blocks are reported
inline constexpr std::uint8_t watches_pages = 4;  ///< something is to be told of pages of our own

/// Read at the first use and the same ever after, so that every handle is of one kind.
inline constinit std::atomic<std::uint8_t> found{unknown};

[[nodiscard]] std::uint8_t look() noexcept;

[[nodiscard]] inline bool has(std::uint8_t what) noexcept {
    std::uint8_t answer = found.load(std::memory_order_relaxed);
    if (answer == unknown) answer = look();
    return (answer & what) != 0;
}

void tell_begin(const HostBlock& block) noexcept;
void tell_end(const HostBlock& block) noexcept;
void tell_return(const HostBlock& block) noexcept;

/// The bytes of `block` have an owner from now on; call it before they do.
inline void begin(const HostBlock& block) noexcept {
    if (block.own_pages && has(watches_pages)) tell_begin(block);
}

/// They have none any more; call it while nobody else can be given them.
inline void end(const HostBlock& block) noexcept {
    if (block.own_pages && has(watches_pages)) tell_end(block);
}

/// The pages go back to the kernel, which may give them to anybody; call it just before.
inline void give_back(const HostBlock& block) noexcept {
    if (block.own_pages && has(watches_pages)) tell_return(block);
}

}  // namespace memory_tools

/// What a handle points to: its entry, or a witness that leads to it.
class HandlePointer {
public:
    /// The pointer for the handle of `entry`, whose block exists: a size that cannot be had was refused before.
    /// @throws std::bad_alloc
    [[nodiscard]] static void* to(Entry& entry) {
        return memory_tools::has(memory_tools::finds_leaks) ? make_witness(entry) : &entry;
    }

    [[nodiscard]] static Entry& entry_of(void* pointer) noexcept {
        if (!memory_tools::has(memory_tools::finds_leaks)) return *static_cast<Entry*>(pointer);
        return **static_cast<Entry**>(pointer);
    }

    /// Ends a handle's pointer. @returns the entry it led to.
    [[nodiscard]] static Entry& give_up(void* pointer) noexcept {
        Entry& entry = entry_of(pointer);
        if (memory_tools::has(memory_tools::finds_leaks)) free_witness(pointer);
        return entry;
    }

private:
    [[nodiscard]] static void* make_witness(Entry& entry);
    static void free_witness(void* witness) noexcept;
};

}  // namespace pinwarden::audit
