// SPDX-License-Identifier: Apache-2.0
#include "report/report_format.hpp"

#include <pinwarden/core/bytes.hpp>

#include <array>
#include <iterator>

#include <fmt/format.h>

#include "report/pin_text.hpp"
#include "report/plain_text.hpp"

namespace pinwarden::audit {
namespace {

constexpr std::array states{PinState::live, PinState::cached, PinState::in_flight, PinState::quarantined};

std::string subject(const StoredReport& report) {
    const std::string whose =
        report.processes.empty() ? "the process" : fmt::format("{} processes", report.processes.size());
    if (report.scope.empty()) return whose;
    const std::string scope = fmt::format("scope '{}'", printable(report.scope));
    return report.processes.empty() ? scope : fmt::format("{} of {}", scope, whose);
}

std::string verdict(const StoredReport& report) {
    if (report.is_clean()) return fmt::format("{}: no pin is live and none is in flight", subject(report));
    return fmt::format("{}: {} live and {} in flight", subject(report), report.counts.live.pins,
                       report.counts.in_flight.pins);
}

void append_tally(std::string& text, std::string_view name, const Tally& tally) {
    fmt::format_to(std::back_inserter(text), "\n  {:<14} {:>6} {:<4} {} asked, {} locked", name, tally.pins,
                   tally.pins == 1 ? "pin" : "pins", format_bytes(tally.bytes), format_bytes(tally.locked_bytes));
}

void append_streams(std::string& text, const StoredReport& report) {
    for (const StreamTally& tally : report.in_flight_by_stream) {
        fmt::format_to(std::back_inserter(text), "\n    waiting for stream '{}': {} {} of {}",
                       printable(tally.stream), tally.pins, tally.pins == 1 ? "pin" : "pins",
                       format_bytes(tally.bytes));
    }
}

void append_peak(std::string& text, std::string_view indent, std::string_view whose, std::size_t peak,
                 std::size_t kernel) {
    fmt::format_to(std::back_inserter(text), "\n{}{} was {}; the kernel counts {} now", indent, whose,
                   format_bytes(peak), format_bytes(kernel));
}

void append_process(std::string& text, const StoredProcess& process) {
    fmt::format_to(std::back_inserter(text), "\n  process '{}': {} live, {} in flight, {} quarantined",
                   printable(process.name), process.counts.live.pins, process.counts.in_flight.pins,
                   process.counts.quarantined.pins);
    append_peak(text, "    ", "its peak", process.peak_locked_bytes, process.kernel_locked_bytes);
}

}  // namespace

std::string write_text(const StoredReport& report) {
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
    const bool one_process = report.processes.empty();
    append_peak(text, "  ", one_process ? "the process's peak" : "the sum of the processes' peaks",
                report.peak_locked_bytes, report.kernel_locked_bytes);
    for (const StoredProcess& process : report.processes) append_process(text, process);
    for (const StoredPin& pin : report.pins) {
        text += "\n  " + line_of(pin);
        for (const StoredFrame& frame : pin.stack) text += "\n    " + line_of(frame);
    }
    return text;
}

}  // namespace pinwarden::audit
