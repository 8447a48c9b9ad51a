// SPDX-License-Identifier: Apache-2.0
#include "command/count_option.hpp"

#include <pinwarden/core/error.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <charconv>

namespace pinwarden::command {

std::uint64_t parse_count(const std::string& text, const std::string& option, const CountRange& range) {
    std::uint64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || stop != end || value < range.least || value > range.greatest) {
        throw ConfigurationError(
            fmt::format("{}: '{}' is not a whole number from {} to {}; write decimal digits only.", option,
                        text, range.least, range.greatest));
    }
    return value;
}

CLI::Option* add_count_option(CLI::App& app, const std::string& name, std::uint64_t& value,
                              const CountRange& range, const std::string& description) {
    CLI::Option* const option = app.add_option_function<std::string>(
        name, [&value, name, range](const std::string& text) { value = parse_count(text, name, range); },
        description);
    return option->type_name("N")->default_str(fmt::format("{}", value));
}

}  // namespace pinwarden::command
