// SPDX-License-Identifier: Apache-2.0
#include "command/train/interrupt.hpp"

#include <atomic>

namespace pinwarden::command {

namespace {

std::atomic<int> last_signal{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may use lock-free atomics only");

extern "C" void note_signal(int signal) {
    last_signal.store(signal, std::memory_order_relaxed);
}

}  // namespace

InterruptGuard::InterruptGuard() noexcept {
    last_signal.store(0, std::memory_order_relaxed);
    struct sigaction action {};
    action.sa_handler = &note_signal;
    // SA_RESETHAND lets an impatient second signal through; SA_RESTART keeps it out of everybody's system
    // calls.
    action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
    ::sigemptyset(&action.sa_mask);
    for (std::size_t i = 0; i < signals.size(); ++i) {
        ::sigaction(signals[i], &action, &previous_[i]);
        // Ignoring the terminal's end is what nohup asks for.
        if (signals[i] == SIGHUP && previous_[i].sa_handler == SIG_IGN)
            ::sigaction(SIGHUP, &previous_[i], nullptr);
    }
}

InterruptGuard::~InterruptGuard() {
    for (std::size_t i = 0; i < signals.size(); ++i) ::sigaction(signals[i], &previous_[i], nullptr);
}

int InterruptGuard::signal() const noexcept {
    return last_signal.load(std::memory_order_relaxed);
}

}  // namespace pinwarden::command
