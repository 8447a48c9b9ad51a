// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The audit at one moment, as a value: to print, to store, to throw.
///
/// ```
/// const auto report = pinwarden::audit::LeakReport::of_process();
/// std::cout << to_text(report);
/// ```

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <pinwarden/audit/pin_record.hpp>
#include <pinwarden/core/error.hpp>
#include <pinwarden/core/export.hpp>

namespace pinwarden::audit {

/// What waits for one stream.
struct StreamTally {
    std::uint64_t queue = 0;  ///< the stream's number, which no other stream ever has
    std::string stream{};     ///< its name
    std::size_t pins = 0;     ///< blocks in flight that it still uses, pageable ones included
    std::size_t bytes = 0;    ///< their bytes asked for

    friend bool operator==(const StreamTally&, const StreamTally&) = default;
};

/// The pins of one scope, or of the process, by state and one by one.
struct PINWARDEN_API LeakReport {
    /// The version of the JSON form; a reader must refuse one it does not know.
    static constexpr int schema_version = 2;

    std::string scope;                  ///< the scope's name; empty for the whole process
    Counts counts;                      ///< of that scope
    std::vector<PinRecord> records;     ///< what `counts` counts, in the order of addresses
    std::size_t peak_locked_bytes = 0;  ///< of the process
    std::size_t kernel_locked_bytes = 0;  ///< of the process, as the kernel says (`VmLck`)
    Tally fallbacks;                    ///< pins of the process that were preferred and became pageable

    /// The report of the whole process at this moment.
    /// @throws std::bad_alloc
    [[nodiscard]] static LeakReport of_process();

    /// What is in flight by the stream that it waits for, in the order of the streams' making. A block that several
    /// streams use is counted with each, one whose copies have just ended with none.
    /// @throws std::bad_alloc
    [[nodiscard]] std::vector<StreamTally> in_flight_by_stream() const;

    /// Whether nothing is live and nothing is in flight.
    [[nodiscard]] bool is_clean() const noexcept { return counts.live.pins == 0 && counts.in_flight.pins == 0; }
};

/// Adds up records by their state; what was left to the system has no records.
[[nodiscard]] PINWARDEN_API Counts count(const std::vector<PinRecord>& records) noexcept;

/// The report for people: one line of counts per state, then one line per pin with its source line.
[[nodiscard]] PINWARDEN_API std::string to_text(const LeakReport& report);

/// The report for programs; the schema is described in docs/audit.md.
[[nodiscard]] PINWARDEN_API std::string to_json(const LeakReport& report);

/// The report for test servers, as JUnit XML: a failed test for each pin that is live or in flight, or one that passed.
[[nodiscard]] PINWARDEN_API std::string to_junit(const LeakReport& report);

/// The report for code review, as SARIF 2.1.0: a result at each source line whose pins are live, in flight or
/// quarantined, with a fingerprint that survives changes elsewhere in the file.
[[nodiscard]] PINWARDEN_API std::string to_sarif(const LeakReport& report);

/// An owner was destroyed while pins of its scope were live or stuck in flight; the text lists each of them.
class PINWARDEN_API LeakError : public Error {
public:
    explicit LeakError(LeakReport report);

    [[nodiscard]] const LeakReport& report() const noexcept { return report_; }

private:
    LeakReport report_;
};

}  // namespace pinwarden::audit
