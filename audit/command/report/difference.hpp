// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// What changed between the reports of two runs. Pins are recognised by what they are, not by where they lie: see
/// report/pin_groups.hpp.

#include "report/pin_groups.hpp"
#include "report/stored_report.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pinwarden::command {

enum class ChangeKind : std::uint8_t { appeared, grown, shrunk, gone };

/// The name used in reports: `new`, `grown`, `shrunk`, `gone`.
[[nodiscard]] std::string_view to_string(ChangeKind kind) noexcept;

/// Pins of one identity that are more, fewer, larger or smaller than before.
struct Change {
    ChangeKind kind = ChangeKind::appeared;
    audit::PinIdentity identity{};
    std::uint32_t line = 0;  ///< in the later run, or where it is gone in the earlier
    audit::Tally before{};
    audit::Tally after{};

    friend bool operator==(const Change&, const Change&) = default;
};

/// All changes: what appeared, then what has grown, shrunk and gone, each by the bytes it is about, largest first.
/// Pins are `grown` if they are more or hold more bytes together.
[[nodiscard]] std::vector<Change> compare(const audit::StoredReport& before, const audit::StoredReport& after);

/// Whether one of them is new or grown and not merely kept by a pool.
[[nodiscard]] bool is_worse(const std::vector<Change>& changes) noexcept;

/// The changes for people and for programs, with a line end behind them. The names are those of the files.
/// @{
[[nodiscard]] std::string changes_text(const std::vector<Change>& changes, const std::string& before,
                                       const std::string& after);
[[nodiscard]] std::string changes_json(const std::vector<Change>& changes, const std::string& before,
                                       const std::string& after);
/// @}

}  // namespace pinwarden::command
