// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/audit/leak_report.hpp>

#include <pinwarden/core/bytes.hpp>

#include <array>
#include <chrono>
#include <iterator>

#include <fmt/format.h>

namespace pinwarden::audit {
namespace {

constexpr std::array states{PinState::live, PinState::cached, PinState::in_flight, PinState::quarantined};

std::string verdict(const LeakReport& report) {
    const std::string subject = report.scope.empty() ? "the process" : fmt::format("scope '{}'", report.scope);
    if (report.is_clean()) return fmt::format("{}: no pin is live and none is in flight", subject);
    return fmt::format("{}: {} live and {} in flight", subject, report.counts.live.pins,
                       report.counts.in_flight.pins);
}

void append_tally(std::string& text, std::string_view name, const Tally& tally) {
    fmt::format_to(std::back_inserter(text), "\n  {:<14} {:>6} {:<4} {} asked, {} locked", name, tally.pins,
                   tally.pins == 1 ? "pin" : "pins", format_bytes(tally.bytes), format_bytes(tally.locked_bytes));
}

void append_streams(std::string& text, const LeakReport& report) {
    for (const StreamTally& tally : report.in_flight_by_stream()) {
        fmt::format_to(std::back_inserter(text), "\n    waiting for stream '{}': {} {} of {}", tally.stream,
                       tally.pins, tally.pins == 1 ? "pin" : "pins", format_bytes(tally.bytes));
    }
}

void append_record(std::string& text, const PinRecord& record) {
    const double seconds = std::chrono::duration<double>(record.age).count();
    fmt::format_to(std::back_inserter(text),
                   "\n  {}:{}: {} '{}' of {} at {}, {} locked by the {} backend, {:.3f} s old",
                   record.site.file_name(), record.site.line(), to_string(record.state),
                   record.label.empty() ? "unlabelled" : record.label, format_bytes(record.bytes), record.address,
                   format_bytes(record.locked_bytes), record.backend, seconds);
    if (!record.scope.empty()) fmt::format_to(std::back_inserter(text), ", scope '{}'", record.scope);
    if (!record.detail.empty()) fmt::format_to(std::back_inserter(text), ", {}", record.detail);
}

}  // namespace

std::string to_text(const LeakReport& report) {
    std::string text = verdict(report);
    for (const PinState state : states) {
        append_tally(text, to_string(state), report.counts.of(state));
        if (state == PinState::in_flight) append_streams(text, report);
    }
    if (report.counts.left_to_system.pins != 0) append_tally(text, "left_to_system", report.counts.left_to_system);
    if (report.fallbacks.pins != 0) {
        fmt::format_to(std::back_inserter(text), "\n  {} preferred pins of {} became pageable memory",
                       report.fallbacks.pins, format_bytes(report.fallbacks.bytes));
    }
    fmt::format_to(std::back_inserter(text), "\n  the process's peak was {}; the kernel counts {} now",
                   format_bytes(report.peak_locked_bytes), format_bytes(report.kernel_locked_bytes));
    for (const PinRecord& record : report.records) append_record(text, record);
    return text;
}

}  // namespace pinwarden::audit
