// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The list of all fields that a configuration file may have, as read_config_file() knows them.
///
///     for (const zero::ConfigField& field : zero::config_fields())
///         std::cout << field.path << ": " << field.valid << '\n';
///
/// docs/engines-configuration.md is this list for people; a test compares the two.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <pinwarden/core/export.hpp>

namespace pinwarden::zero {

/// What becomes of a field.
enum class FieldTreatment : std::uint8_t {
    honoured,   ///< it does what DeepSpeed's documentation says
    no_effect,  ///< it is checked, and cannot change anything here; the note says why
    fixed,      ///< it must have the one value that is true here; the note says why
    refused,    ///< it must not be there; the note says what to do instead
};

/// One field of a configuration file.
struct ConfigField {
    std::string path;  ///< as in errors: `zero_optimization.offload_optimizer.device`
    FieldTreatment treatment = FieldTreatment::honoured;
    bool required = false;  ///< must be there if the section that it belongs to is
    std::string valid;      ///< the valid values, in words
    std::string note;       ///< the reason or advice that belongs to it; may be empty
};

/// All fields, section by section. Thread-safe.
[[nodiscard]] PINWARDEN_API std::vector<ConfigField> config_fields();

}  // namespace pinwarden::zero
