// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Options that take a whole number, read strictly: decimal digits and nothing else, so that `010` is ten
/// and `1e3`, `-1` and `0x10` are errors that say what is valid.

#include <cstdint>
#include <string>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace pinwarden::command {

/// The numbers that an option accepts, both ends included.
struct CountRange {
    std::uint64_t least = 0;
    std::uint64_t greatest = 0;
};

/// Reads `text` as a number in `range`.
/// @throws ConfigurationError that names the `option`, what was found and what is valid.
[[nodiscard]] std::uint64_t parse_count(const std::string& text, const std::string& option,
                                        const CountRange& range);

/// Adds the option `name` to `app`; it stores into `value`, whose present value the help shows as the
/// default.
CLI::Option* add_count_option(CLI::App& app, const std::string& name, std::uint64_t& value,
                              const CountRange& range, const std::string& description);

}  // namespace pinwarden::command
