// SPDX-License-Identifier: Apache-2.0
#include "core/memory_probe.hpp"

#include <pinwarden/core/process_memory.hpp>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <string_view>

namespace pinwarden::detail {
namespace {

std::optional<std::size_t> leading_number(std::string_view text) {
    const auto first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return std::nullopt;
    text.remove_prefix(first);
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc()) return std::nullopt;
    return number;
}

// The number behind `key` in a file of lines `key number …`.
std::optional<std::size_t> field(const std::string& path, std::string_view key) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with(key)) return leading_number(std::string_view(line).substr(key.size()));
    }
    return std::nullopt;
}

std::optional<std::size_t> only_number(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return leading_number(line);
}

struct CgroupFiles {
    const char* mount;
    const char* limit;
    const char* usage;
    const char* reclaimable_key;  // page cache in memory.stat that the kernel drops before it kills
};

constexpr CgroupFiles version_1{"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
                                "total_inactive_file "};
constexpr CgroupFiles version_2{"/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file "};

// The least that any group from `group` up to the root of the hierarchy still allows.
std::size_t allowed_by_cgroups(const std::string& root, const CgroupFiles& files, std::string group) {
    std::size_t allowed = unlimited_bytes;
    for (;;) {
        const std::string directory = root + files.mount + group + "/";
        const auto limit = only_number(directory + files.limit);  // "max" is no number and means no limit
        const auto usage = only_number(directory + files.usage);
        if (limit && usage) {
            const std::size_t reclaimable = field(directory + "memory.stat", files.reclaimable_key).value_or(0);
            const std::size_t needed = *usage - std::min(*usage, reclaimable);
            allowed = std::min(allowed, *limit - std::min(*limit, needed));
        }
        if (group.empty()) return allowed;
        const auto parent = group.rfind('/');
        group.resize(parent == std::string::npos ? 0 : parent);
    }
}

}  // namespace

std::size_t locked_bytes_under(const std::string& root) {
    return field(root + "/proc/self/status", "VmLck:").value_or(0) * 1024;
}

std::size_t available_bytes_under(const std::string& root) {
    std::size_t available = unlimited_bytes;
    if (const auto kib = field(root + "/proc/meminfo", "MemAvailable:")) available = *kib * 1024;

    // Lines are `id:controllers:path`; version 2 has the id 0 and no controllers.
    std::ifstream groups(root + "/proc/self/cgroup");
    for (std::string line; std::getline(groups, line);) {
        const auto first = line.find(':');
        const auto second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos) continue;
        const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
        std::string group = line.substr(second + 1);
        if (group == "/") group.clear();
        if (controllers == ",,") {
            available = std::min(available, allowed_by_cgroups(root, version_2, group));
        } else if (controllers.find(",memory,") != std::string::npos) {
            available = std::min(available, allowed_by_cgroups(root, version_1, group));
        }
    }
    return available;
}

}  // namespace pinwarden::detail
