// SPDX-License-Identifier: Apache-2.0
#include "core/critical_section.hpp"

namespace pinwarden::detail {
namespace {

// They nest: a look-up copies a record, which has a mutex of its own, while it holds a table.
thread_local constinit std::atomic<int> depth{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler reads it");

}  // namespace

void CriticalSection::enter() noexcept {
    depth.store(depth.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
}

void CriticalSection::leave() noexcept {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    depth.store(depth.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
}

bool CriticalSection::is_interrupted() noexcept { return depth.load(std::memory_order_relaxed) != 0; }

}  // namespace pinwarden::detail
