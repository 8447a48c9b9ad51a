// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/audit/leak_guard.hpp>

#include <pinwarden/audit/registry.hpp>

#include <algorithm>
#include <thread>

#include "registry/ledger.hpp"
#include "registry/selection_report.hpp"

namespace pinwarden::audit {

LeakGuard::~LeakGuard() {
    if (closed_) return;
    complain_if_live({.since = &mark_}, {},
                     "pins outlive the guard that watched them, and there was no memory to list them");
}

void LeakGuard::restart() noexcept {
    mark_ = Ledger::instance().mark();
    closed_ = false;
}

LeakReport LeakGuard::report() const { return report_of({.since = &mark_}); }

LeakReport LeakGuard::close(std::chrono::nanoseconds deadline) {
    using Clock = std::chrono::steady_clock;
    // Long enough not to keep a core busy, short enough that a test does not notice.
    constexpr std::chrono::nanoseconds pause = std::chrono::microseconds(200);
    const Clock::time_point start = Clock::now();
    closed_ = true;
    while (true) {
        Registry::instance().collect();
        LeakReport left = report();
        const std::chrono::nanoseconds passed = Clock::now() - start;
        if (left.counts.in_flight.pins == 0 || passed >= deadline) return left;
        std::this_thread::sleep_for(std::min(pause, deadline - passed));
    }
}

}  // namespace pinwarden::audit
