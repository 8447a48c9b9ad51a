// SPDX-License-Identifier: Apache-2.0
#include "scan/driver/report_paths.hpp"

#include <fmt/format.h>

#include <string_view>

namespace pinwarden::scan {

std::string shown_path(const std::string& file, const std::filesystem::path& base) {
    if (base.empty()) return file;
    const std::filesystem::path relative = std::filesystem::path(file).lexically_relative(base);
    return relative.empty() || *relative.begin() == ".." ? file : relative.string();
}

std::string uri_path(const std::string& path) {
    constexpr std::string_view plain =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/!$&'()*+,;=@";
    std::string uri;
    for (const char letter : path) {
        if (plain.find(letter) != std::string_view::npos)
            uri += letter;
        else
            uri += fmt::format("%{:02X}", static_cast<unsigned char>(letter));
    }
    return uri;
}

}  // namespace pinwarden::scan
