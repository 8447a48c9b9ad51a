// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/core/fork.hpp>

#include <atomic>

#include <pthread.h>

namespace pinwarden {
namespace {

constinit std::atomic<std::uint64_t> generation{0};

void count_fork() noexcept { generation.fetch_add(1, std::memory_order_relaxed); }

// Before main, so that no fork goes uncounted; whoever resets itself in the child registers later and runs later.
[[gnu::constructor]] void watch_forks() { ::pthread_atfork(nullptr, nullptr, count_fork); }

}  // namespace

std::uint64_t fork_generation() noexcept { return generation.load(std::memory_order_relaxed); }

}  // namespace pinwarden
