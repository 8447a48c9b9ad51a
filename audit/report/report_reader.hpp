// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Reads a leak report that was written as JSON, and refuses everything else.

#include <string>
#include <string_view>

#include <pinwarden/core/error.hpp>
#include <pinwarden/core/export.hpp>

#include "report/stored_report.hpp"

namespace pinwarden::audit {

/// A text is no leak report: which, what is wrong with it and where, and what to do.
class PINWARDEN_API ReportError : public Error {
public:
    using Error::Error;
};

/// The report in `json`.
/// @param name names the text in messages, as a file name does.
/// @throws ReportError if it is no report, ends too early, is of another version, or contradicts itself. What is read
/// is then exactly what the schema in docs/leak-report.schema.json allows.
[[nodiscard]] PINWARDEN_API StoredReport read_report(std::string_view json, const std::string& name);

}  // namespace pinwarden::audit
