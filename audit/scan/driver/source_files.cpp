// SPDX-License-Identifier: Apache-2.0
#include "scan/driver/source_files.hpp"

#include <pinwarden/core/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <system_error>

namespace pinwarden::scan {

namespace {

namespace fs = std::filesystem;

template <std::size_t count>
bool ends_in(const fs::path& file, const std::array<std::string_view, count>& endings) {
    const std::string ending = file.extension().string();
    return std::find(endings.begin(), endings.end(), ending) != endings.end();
}

bool is_left_out(const fs::path& folder) {
    std::error_code ignored;
    return folder.filename().string().starts_with('.') || fs::exists(folder / "CMakeCache.txt", ignored);
}

}  // namespace

bool is_source(const fs::path& file) {
    static constexpr std::array<std::string_view, 8> endings = {".c",   ".cc",  ".cpp", ".cxx",
                                                                ".c++", ".C",   ".cu",  ".hip"};
    return ends_in(file, endings);
}

bool is_header(const fs::path& file) {
    static constexpr std::array<std::string_view, 8> endings = {".h",   ".hh",  ".hpp", ".hxx",
                                                                ".cuh", ".inc", ".inl", ".ipp"};
    return ends_in(file, endings);
}

std::vector<fs::path> files_below(const fs::path& folder) {
    std::vector<fs::path> files;
    std::error_code error;
    fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, error);
    for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
        std::error_code ignored;
        if (at->is_directory(ignored)) {
            if (is_left_out(at->path())) at.disable_recursion_pending();
        } else if (at->is_regular_file(ignored)) {
            files.push_back(at->path());
        }
    }
    return files;
}

std::vector<fs::path> collect_sources(const std::vector<fs::path>& paths) {
    std::vector<fs::path> sources;
    for (const fs::path& path : paths) {
        std::error_code error;
        const fs::file_status status = fs::status(path, error);
        if (!fs::exists(status)) {
            throw ConfigurationError(fmt::format(
                "Cannot scan {}: there is no such file or folder; give one that exists.", path.string()));
        }
        const fs::path whole = fs::absolute(path).lexically_normal();
        if (!fs::is_directory(status)) {
            sources.push_back(whole);
            continue;
        }
        for (const fs::path& file : files_below(whole)) {
            if (is_source(file)) sources.push_back(file);
        }
    }
    std::sort(sources.begin(), sources.end());
    sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
    return sources;
}

}  // namespace pinwarden::scan
