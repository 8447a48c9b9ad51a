// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Leak reports for tests of what reads, writes, joins and compares them.

#include <string>
#include <utility>

#include <report/stored_report.hpp>

namespace pinwarden::testing {

/// Adds a pin to a report, and to its counts.
inline audit::StoredPin& add_pin(audit::StoredReport& report, audit::StoredPin pin) {
    audit::Tally& tally = report.counts.of(pin.state);
    tally.pins += 1;
    tally.bytes += pin.bytes;
    tally.locked_bytes += pin.locked_bytes;
    return report.pins.emplace_back(std::move(pin));
}

/// A live pin of one page that `label` stands for.
[[nodiscard]] inline audit::StoredPin live_pin(std::string label, std::uint32_t line = 12) {
    return {.address = "0x7f0000001000",
            .bytes = 4000,
            .locked_bytes = 4096,
            .backend = "native",
            .label = std::move(label),
            .scope = "zero2",
            .file = "/src/engine.cpp",
            .line = line,
            .function = "void run()",
            .thread = "140",
            .age_ns = 1'500'000'000};
}

/// A report that uses everything a report of one process can hold, with labels of every byte.
[[nodiscard]] inline audit::StoredReport eventful_report() {
    using audit::PinState;
    audit::StoredReport report{.process = "4711@node7",
                               .scope = "zero2",
                               .in_flight_by_stream = {{.stream = "copy", .pins = 1, .bytes = 100}},
                               .fallbacks = {3, 3000, 0},
                               .peak_locked_bytes = 1 << 20,
                               .kernel_locked_bytes = 20480};
    report.counts.left_to_system = {7, 70, 700};
    audit::StoredPin& first = add_pin(report, live_pin("hp_params"));
    first.stack = {{"0x401000", "/bin/engine", "make_buffers()", "/src/engine.cpp", 12},
                   {"0x402000", "/bin/engine", "main", "", 0},
                   {"0x7f00000a", "", "", "", 0}};
    for (unsigned byte = 0; byte < 256; byte += 64) {
        std::string label;
        for (unsigned next = byte; next < byte + 64; ++next) label += static_cast<char>(next);
        add_pin(report, live_pin(label, 40 + byte));
    }
    audit::StoredPin flying = live_pin("");
    flying.state = PinState::in_flight;
    flying.bytes = 100;
    flying.detail = "used on stream copy";
    add_pin(report, std::move(flying));
    audit::StoredPin stuck = live_pin("lp_grads");
    stuck.state = PinState::quarantined;
    stuck.detail = "munmap failed with error 12";
    add_pin(report, std::move(stuck));
    audit::StoredPin kept = live_pin("pool");
    kept.state = PinState::cached;
    add_pin(report, std::move(kept));
    return report;
}

}  // namespace pinwarden::testing
