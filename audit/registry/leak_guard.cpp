// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/audit/leak_guard.hpp>

#include <pinwarden/audit/registry.hpp>
#include <pinwarden/core/process_memory.hpp>
#include <pinwarden/core/release_failure.hpp>

#include <algorithm>
#include <string>
#include <thread>

#include "registry/ledger.hpp"

namespace pinwarden::audit {

LeakGuard::~LeakGuard() {
    if (closed_) return;
    const Tally live = Ledger::instance().live({.since = &mark_});
    if (live.pins == 0) return;
    try {
        const std::string text = to_text(report());
        report_release_failure({.text = text, .bytes = live.locked_bytes});
    } catch (...) {
        report_release_failure(
            {.text = "pins outlive the guard that watched them, and there was no memory to list them",
             .bytes = live.locked_bytes});
    }
}

void LeakGuard::restart() noexcept {
    mark_ = Ledger::instance().mark();
    closed_ = false;
}

LeakReport LeakGuard::report() const {
    const Registry& registry = Registry::instance();
    LeakReport report;
    report.records = Ledger::instance().records({.since = &mark_});
    report.counts = count(report.records);
    report.peak_locked_bytes = registry.peak_locked_bytes();
    report.kernel_locked_bytes = kernel_locked_bytes();
    report.fallbacks = registry.fallbacks();
    return report;
}

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
