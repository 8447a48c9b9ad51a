// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Which pins are the same finding, in one report and across reports.
///
/// Addresses, threads and ages differ from run to run, and line numbers from change to change. What stays is the code
/// that pinned, the name it gave, and what became of it.

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include <pinwarden/audit/pin_record.hpp>
#include <pinwarden/core/export.hpp>

#include "report/stored_report.hpp"

namespace pinwarden::audit {

/// What two reports recognise a pin by.
struct PinIdentity {
    std::string file;
    std::string function;
    std::string label;
    std::string scope;
    PinState state = PinState::live;

    friend auto operator<=>(const PinIdentity&, const PinIdentity&) = default;
};

[[nodiscard]] PINWARDEN_API PinIdentity identity_of(const StoredPin& pin);

/// Sixteen hexadecimal digits that are the same for the same identity, on every machine and in every version.
[[nodiscard]] PINWARDEN_API std::string fingerprint(const PinIdentity& identity);

/// Pins of one identity, or of one identity and line.
struct PinGroup {
    PinIdentity identity{};
    std::uint32_t line = 0;  ///< of the first of them
    Tally tally{};
    std::vector<const StoredPin*> pins{};  ///< in the order of the report, which must outlive the group
};

/// The groups of `report`, in the order of identities.
[[nodiscard]] PINWARDEN_API std::vector<PinGroup> group_by_identity(const StoredReport& report);

/// The same, divided further: one group for each source line that pinned, those of one identity in the order of lines.
[[nodiscard]] PINWARDEN_API std::vector<PinGroup> group_by_line(const StoredReport& report);

}  // namespace pinwarden::audit
