// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/zero/config.hpp>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

#include <fmt/format.h>

#include "zero/config_check.hpp"
#include "zero/config_json.hpp"

namespace pinwarden::zero {
namespace {

// Real configurations have a few kilobytes; the limit keeps a wrong path such as a data file or /dev/zero
// from being read for ever.
constexpr std::size_t largest_file = 1024 * 1024;

struct CloseFile {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

[[noreturn]] void refuse_file(const std::string& path, std::string_view answer) {
    throw ConfigurationError(
        fmt::format("read_config_file(\"{}\"): {}; give the path of a DeepSpeed JSON file", path, answer));
}

std::string errno_text() { return std::generic_category().message(errno); }

std::string read_text(const std::string& path) {
    const File file{std::fopen(path.c_str(), "rbe")};
    if (file == nullptr) refuse_file(path, errno_text());
    std::string text(largest_file + 1, '\0');
    const std::size_t bytes = std::fread(text.data(), 1, text.size(), file.get());
    if (std::ferror(file.get()) != 0) refuse_file(path, errno_text());
    if (bytes > largest_file)
        refuse_file(path, fmt::format("the file is larger than {} bytes", largest_file));
    text.resize(bytes);
    return text;
}

}  // namespace

Config read_config_text(std::string_view json, std::string_view origin, std::size_t ranks) {
    if (json.find_first_not_of(" \t\r\n") == std::string_view::npos)
        throw ConfigurationError(
            fmt::format("{}: the text is empty; valid: a JSON object with the fields of a DeepSpeed "
                        "configuration",
                        origin));
    return apply_rules(check_fields(parse_json(json, origin), origin), origin, ranks);
}

Config read_config_file(const std::filesystem::path& path, std::size_t ranks) {
    return read_config_text(read_text(path.string()), path.string(), ranks);
}

}  // namespace pinwarden::zero
