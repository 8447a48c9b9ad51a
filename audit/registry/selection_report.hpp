// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// What scopes and leak guards have in common: a report about some of the entries, and what they say at their end.

#include <string_view>

#include <pinwarden/audit/leak_report.hpp>

#include "registry/ledger.hpp"

namespace pinwarden::audit {

/// The selected pins, with the process's figures. @throws std::bad_alloc
[[nodiscard]] LeakReport report_of(const Selection& selection);

/// Hands a report, with `name` as its scope, to the release-failure handler if a selected pin is live; where there is
/// no memory for it, `text_without_memory`.
void complain_if_live(const Selection& selection, std::string_view name, std::string_view text_without_memory) noexcept;

}  // namespace pinwarden::audit
