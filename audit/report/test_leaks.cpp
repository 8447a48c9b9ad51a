// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/audit/test_leaks.hpp>

#include <pinwarden/core/bytes.hpp>
#include <pinwarden/core/error.hpp>

#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "report/pin_text.hpp"
#include "report/plain_text.hpp"
#include "report/stored_report.hpp"

namespace pinwarden::audit {
namespace {

// The permission of the test that runs now.
struct Permission {
    std::mutex mutex;
    std::string reason;
};

Permission& permission() {
    static auto& never_destroyed = *new Permission;  // tests may end with the program
    return never_destroyed;
}

std::string take_reason() {
    const std::scoped_lock lock(permission().mutex);
    return std::exchange(permission().reason, {});
}

std::string text_of(const StoredPin& pin) {
    std::string text = "the test left a pin: " + line_of(pin);
    for (const StoredFrame& frame : pin.stack) text += "\n  " + line_of(frame);
    return text;
}

}  // namespace

void allow_leaks(std::string_view reason) {
    if (reason.empty()) {
        throw ConfigurationError(
            "allow_leaks(\"\"): a test that may leave pins says why; give the reason as one sentence");
    }
    const std::scoped_lock lock(permission().mutex);
    permission().reason = reason;
}

void TestLeakCheck::begin() noexcept {
    static_cast<void>(take_reason());
    if (guard_) {
        guard_->restart();
    } else {
        guard_.emplace();
    }
}

TestLeaks TestLeakCheck::end(std::chrono::nanoseconds patience) {
    TestLeaks found;
    const std::string reason = take_reason();
    if (!guard_) return found;
    const LeakReport report = guard_->close(patience);
    guard_.reset();
    if (report.is_clean()) return found;
    for (const StoredPin& pin : stored(report).pins) {
        if (pin.state != PinState::live && pin.state != PinState::in_flight) continue;
        found.leaks.push_back({.file = pin.file, .line = pin.line, .text = text_of(pin)});
    }
    if (!reason.empty()) {
        const std::size_t bytes = report.counts.live.bytes + report.counts.in_flight.bytes;
        found.allowed = fmt::format("the test left {} {} of {}, which it may: {}", found.leaks.size(),
                                    found.leaks.size() == 1 ? "pin" : "pins", format_bytes(bytes), printable(reason));
    }
    return found;
}

}  // namespace pinwarden::audit
