// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Being told to stop by a signal, and stopping at the next good moment: pins are released and audited first.

#include <csignal>

#include <array>

namespace pinwarden::command {

/// While it lives, SIGINT, SIGTERM and SIGHUP only leave a note. The second one of a kind ends the program at
/// once, as it would have without this. One at a time: it concerns the whole process.
class [[nodiscard]] InterruptGuard {
public:
    InterruptGuard() noexcept;
    InterruptGuard(const InterruptGuard&) = delete;
    InterruptGuard& operator=(const InterruptGuard&) = delete;

    /// Puts back what was in force before.
    ~InterruptGuard();

    /// The last signal that came, 0 if none did.
    [[nodiscard]] int signal() const noexcept;

private:
    static constexpr std::array signals = {SIGINT, SIGTERM, SIGHUP};

    std::array<struct sigaction, signals.size()> previous_{};
};

}  // namespace pinwarden::command
