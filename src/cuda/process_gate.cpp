// SPDX-License-Identifier: Apache-2.0
#include "cuda/process_gate.hpp"

#include <cstdlib>
#include <type_traits>

#include <pthread.h>

namespace pinwarden::cuda::detail {
namespace {

constinit ProcessGate the_gate;
static_assert(std::is_trivially_destructible_v<ProcessGate>, "handles may outlive every other static object");

void close_at_exit() { the_gate.close(ProcessGate::State::exiting); }

void close_in_child() { the_gate.close(ProcessGate::State::forked); }

bool arm() noexcept {
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
