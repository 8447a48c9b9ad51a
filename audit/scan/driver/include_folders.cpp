// SPDX-License-Identifier: Apache-2.0
#include "scan/driver/include_folders.hpp"

#include "scan/driver/source_files.hpp"

#include <algorithm>
#include <deque>
#include <fstream>
#include <iterator>
#include <set>
#include <system_error>

namespace pinwarden::scan {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_headers_followed = 500;
constexpr int most_levels_up = 6;

/// The folder of a file's project: the nearest one above with a repository in it, else its own.
fs::path project_of(const fs::path& file) {
    const fs::path own = file.parent_path();
    fs::path folder = own;
    for (int level = 0; level < most_levels_up && folder.has_relative_path(); ++level) {
        std::error_code ignored;
        if (fs::exists(folder / ".git", ignored)) return folder;
        folder = folder.parent_path();
    }
    return own;
}

std::size_t common_parts(const fs::path& left, const fs::path& right) {
    const auto ends = std::mismatch(left.begin(), left.end(), right.begin(), right.end());
    return static_cast<std::size_t>(std::distance(left.begin(), ends.first));
}

/// `path` without `name` at its end; empty if it does not end so.
fs::path folder_of_suffix(const fs::path& path, const fs::path& name) {
    fs::path folder = path;
    fs::path rest = name;
    while (!rest.empty()) {
        if (folder.filename() != rest.filename()) return {};
        folder = folder.parent_path();
        rest = rest.parent_path();
    }
    return folder;
}

}  // namespace

IncludeFolders::IncludeFolders(const std::vector<fs::path>& paths) {
    std::set<fs::path> roots;
    for (const fs::path& path : paths) {
        std::error_code ignored;
        const fs::path whole = fs::absolute(path).lexically_normal();
        roots.insert(fs::is_directory(whole, ignored) ? whole : project_of(whole));
    }
    for (const fs::path& root : roots) {
        for (const fs::path& file : files_below(root)) {
            if (is_header(file)) headers_[file.filename().string()].push_back(file);
        }
    }
}

const std::vector<IncludeFolders::Include>& IncludeFolders::includes_of(const fs::path& file) {
    const auto [place, fresh] = includes_.try_emplace(file.string());
    if (!fresh) return place->second;
    std::ifstream stream(file);
    std::string line;
    while (std::getline(stream, line)) {
        const std::size_t hash = line.find_first_not_of(" \t");
        if (hash == std::string::npos || line[hash] != '#') continue;
        const std::size_t word = line.find_first_not_of(" \t", hash + 1);
        if (word == std::string::npos || line.compare(word, 7, "include") != 0) continue;
        const std::size_t open = line.find_first_of("\"<", word);
        if (open == std::string::npos) continue;
        const std::size_t close = line.find(line[open] == '<' ? '>' : '"', open + 1);
        if (close == std::string::npos) continue;
        place->second.push_back({line.substr(open + 1, close - open - 1), line[open] == '"'});
    }
    return place->second;
}

fs::path IncludeFolders::resolve(const Include& include, const fs::path& from) const {
    const fs::path name = fs::path(include.name).lexically_normal();
    // A bare name in angle brackets is the system's, even where the tree has a header of that name.
    if (!include.quoted && !name.has_parent_path()) return {};
    const auto found = headers_.find(name.filename().string());
    if (found == headers_.end()) return {};
    fs::path best;
    for (const fs::path& header : found->second) {
        if (folder_of_suffix(header, name).empty()) continue;
        if (best.empty() || common_parts(header, from) > common_parts(best, from)) best = header;
    }
    return best;
}

std::vector<std::string> IncludeFolders::folders_for(const fs::path& source) {
    std::vector<std::string> folders;
    const auto add = [&](const fs::path& folder) {
        const std::string text = folder.string();
        if (!text.empty() && std::find(folders.begin(), folders.end(), text) == folders.end())
            folders.push_back(text);
    };
    std::set<fs::path> seen{source};
    std::deque<fs::path> waiting{source};
    while (!waiting.empty() && seen.size() < most_headers_followed) {
        const fs::path file = waiting.front();
        waiting.pop_front();
        for (const Include& include : includes_of(file)) {
            std::error_code ignored;
            fs::path header = (file.parent_path() / include.name).lexically_normal();
            if (!include.quoted || !fs::is_regular_file(header, ignored)) {
                header = resolve(include, source);
                if (header.empty()) continue;
                add(folder_of_suffix(header, fs::path(include.name).lexically_normal()));
            }
            if (seen.insert(header).second) waiting.push_back(header);
        }
    }
    fs::path folder = source.parent_path();
    for (int level = 0; level < most_levels_up && folder.has_relative_path(); ++level) {
        std::error_code ignored;
        if (fs::is_directory(folder / "include", ignored) && folder != "/usr" && folder != "/usr/local")
            add(folder / "include");
        folder = folder.parent_path();
    }
    return folders;
}

}  // namespace pinwarden::scan
