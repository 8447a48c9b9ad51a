// SPDX-License-Identifier: Apache-2.0
#include "cuda/process_gate.hpp"

#include <atomic>
#include <cstdlib>
#include <type_traits>

#include <pthread.h>
#include <unistd.h>

namespace pinwarden::cuda::detail {
namespace {

constinit ProcessGate the_gate;
static_assert(std::is_trivially_destructible_v<ProcessGate>, "handles may outlive every other static object");

void close_at_exit() { the_gate.close(ProcessGate::State::exiting); }

void close_in_child() { the_gate.close(ProcessGate::State::forked); }

std::atomic<bool> is_armed{false};

// The thread_local objects of the thread that exits are destroyed before all static ones, and before any exit handler,
// those included that were registered after this file's. So a static handle that was pinned late is released behind a
// closed gate, as long as the main thread is the one that exits.
struct MainThreadEnd {
    bool is_main_thread = false;
    ~MainThreadEnd() {
        if (is_main_thread && is_armed.load(std::memory_order_relaxed)) close_at_exit();
    }
};
thread_local MainThreadEnd main_thread_end;

[[gnu::constructor]] void watch_main_thread() noexcept { main_thread_end.is_main_thread = ::getpid() == ::gettid(); }

bool arm() noexcept {
    is_armed.store(true, std::memory_order_relaxed);
    // Each answers an error only for want of memory; the others still help then.
    const bool at_exit = std::atexit(close_at_exit) == 0;
    const bool at_quick_exit = std::at_quick_exit(close_at_exit) == 0;
    const bool at_fork = ::pthread_atfork(nullptr, nullptr, close_in_child) == 0;
    return at_exit && at_quick_exit && at_fork;
}

}  // namespace

const char* ProcessGate::reason() const noexcept {
    switch (state_.load(std::memory_order_acquire)) {
        case State::open: return "nothing forbids it";
        case State::exiting: return "the process has begun to exit";
        case State::forked:
            return "this process is a fork of one that has used CUDA; start it by exec, or fork before";
    }
    return "";
}

ProcessGate& process_gate() noexcept { return the_gate; }

void arm_process_gate() noexcept { [[maybe_unused]] static const bool armed = arm(); }

}  // namespace pinwarden::cuda::detail
