// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The formats in which a report can be written: text for people, JSON for programs, JUnit XML for test servers, SARIF
/// 2.1.0 for code review.
///
/// Labels and names are the bytes that a program gave: whatever they are, every format stays well-formed.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <pinwarden/core/export.hpp>

#include "report/stored_report.hpp"

namespace pinwarden::audit {

enum class ReportFormat : std::uint8_t { text, json, junit, sarif };

/// A format's name on a command line.
struct ReportFormatName {
    std::string_view name;
    ReportFormat format;
};

inline constexpr std::array report_format_names{
    ReportFormatName{"text", ReportFormat::text}, ReportFormatName{"json", ReportFormat::json},
    ReportFormatName{"junit", ReportFormat::junit}, ReportFormatName{"sarif", ReportFormat::sarif}};

/// The format that a file's name asks for: `.json`, `.xml`, `.sarif` and `.sarif.json`; text for any other ending.
[[nodiscard]] PINWARDEN_API ReportFormat format_of(std::string_view file_name) noexcept;

/// The report in that format, with a line end behind it.
[[nodiscard]] PINWARDEN_API std::string write(const StoredReport& report, ReportFormat format);

/// @name The formats one by one, without a line end behind them
/// @{
[[nodiscard]] PINWARDEN_API std::string write_text(const StoredReport& report);
[[nodiscard]] PINWARDEN_API std::string write_json(const StoredReport& report);
[[nodiscard]] PINWARDEN_API std::string write_junit(const StoredReport& report);
[[nodiscard]] PINWARDEN_API std::string write_sarif(const StoredReport& report);
/// @}

}  // namespace pinwarden::audit
