// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// A leak report in plain values, as it is written to files and read from them: of this process or of another, of one
/// process or of many.
///
/// A LeakReport names source lines and threads of this process, which nobody can make from a file. So every format is
/// written from this form, and the reader gives it back.
///
/// ```
/// const StoredReport report = stored(LeakReport::of_process());
/// write_file(path, write(report, format_of(path)));
/// ```

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <pinwarden/audit/leak_report.hpp>
#include <pinwarden/audit/pin_record.hpp>
#include <pinwarden/core/export.hpp>

namespace pinwarden::audit {

/// One call on the way to a pin; what could not be found out is empty or 0.
struct StoredFrame {
    std::string address{};   ///< `0x…`, where the call returns to
    std::string module{};    ///< the program or shared library
    std::string function{};
    std::string file{};
    std::uint32_t line = 0;

    friend bool operator==(const StoredFrame&, const StoredFrame&) = default;
};

/// One pin.
struct StoredPin {
    std::string process{};  ///< whose it is, in a report of several processes; empty otherwise
    std::string address{};  ///< `0x…`
    std::size_t bytes = 0;
    std::size_t locked_bytes = 0;
    PinState state = PinState::live;
    std::string backend{};
    std::string label{};
    std::string scope{};
    std::string file{};
    std::uint32_t line = 0;
    std::string function{};
    std::string thread{};
    std::uint64_t age_ns = 0;
    std::string detail{};
    std::vector<StoredFrame> stack{};  ///< innermost first; empty if none was captured

    friend bool operator==(const StoredPin&, const StoredPin&) = default;
};

/// What a report of several processes says of each.
struct StoredProcess {
    std::string name{};
    Counts counts{};
    std::size_t peak_locked_bytes = 0;
    std::size_t kernel_locked_bytes = 0;

    friend bool operator==(const StoredProcess&, const StoredProcess&) = default;
};

/// A whole report. Of several processes, its numbers are their sums.
struct PINWARDEN_API StoredReport {
    std::string process{};  ///< the process's name; empty if it is not known or there are several
    std::string scope{};    ///< empty for all scopes
    Counts counts{};
    std::vector<StreamTally> in_flight_by_stream{};  ///< without the streams' numbers, which mean nothing elsewhere
    Tally fallbacks{};
    std::size_t peak_locked_bytes = 0;
    std::size_t kernel_locked_bytes = 0;
    std::vector<StoredPin> pins{};
    std::vector<StoredProcess> processes{};  ///< of a report of several processes

    [[nodiscard]] bool is_clean() const noexcept { return counts.live.pins == 0 && counts.in_flight.pins == 0; }

    friend bool operator==(const StoredReport&, const StoredReport&) = default;
};

/// The report as it is stored. Stacks are looked up here: the functions and source lines of their addresses.
/// @throws std::bad_alloc
[[nodiscard]] PINWARDEN_API StoredReport stored(const LeakReport& report);

/// A name for this process that no other process of the same job has: `4711@node7`, or `rank 3 (4711@node7)` where the
/// environment tells the rank.
/// @throws std::bad_alloc
[[nodiscard]] PINWARDEN_API std::string name_of_this_process();

}  // namespace pinwarden::audit
