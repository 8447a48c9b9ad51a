// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The rules by name, for reports that list them and settings that name them.

#include <gsl/span>

#include <cstddef>
#include <string>
#include <string_view>

namespace pinwarden::scan {

struct Rule {
    std::string_view id;
    std::string_view title;    ///< what it finds, in one sentence
    std::string_view harm;     ///< why that matters
};

/// All rules, sorted by id: those about pins, and the one about suppressions that give no reason.
[[nodiscard]] gsl::span<const Rule> all_rules() noexcept;

/// The place of `id` in all_rules(); their number if there is no such rule.
[[nodiscard]] std::size_t rule_index(std::string_view id) noexcept;

/// All ids, with commas between, for messages.
[[nodiscard]] std::string rule_names();

}  // namespace pinwarden::scan
