// SPDX-License-Identifier: Apache-2.0
#include "scan/driver/changed_code.hpp"

#include "scan/driver/child_process.hpp"
#include "scan/driver/suppression.hpp"

#include <pinwarden/core/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <limits>
#include <set>
#include <system_error>

namespace pinwarden::scan {

namespace {

namespace fs = std::filesystem;

constexpr std::chrono::minutes longest_git_call{5};

/// The lines of one side of a hunk.
struct Side {
    unsigned first = 0;
    unsigned count = 1;
};

Side side_after(std::string_view head, char sign) {
    Side side;
    const std::size_t at = head.find(sign);
    if (at == std::string_view::npos) return side;
    const char* const end = head.data() + head.size();
    const auto [after, error] = std::from_chars(head.data() + at + 1, end, side.first);
    if (error == std::errc() && after != end && *after == ',') std::from_chars(after + 1, end, side.count);
    return side;
}

/// A path as Git writes it: with quotes and escapes where it has unusual letters.
std::string unquoted(std::string_view text) {
    if (text.size() < 2 || text.front() != '"') return std::string(text.substr(0, text.find('\t')));
    std::string path;
    for (std::size_t at = 1; at + 1 < text.size(); ++at) {
        if (text[at] != '\\') {
            path += text[at];
            continue;
        }
        const char letter = text[++at];
        constexpr std::string_view escapes = "abtnvfr";
        constexpr std::string_view meanings = "\a\b\t\n\v\f\r";
        if (letter >= '0' && letter <= '3' && at + 2 < text.size()) {
            unsigned value = 0;
            std::from_chars(text.data() + at, text.data() + at + 3, value, 8);
            path += static_cast<char>(value);
            at += 2;
        } else if (const std::size_t known = escapes.find(letter); known != std::string_view::npos) {
            path += meanings[known];
        } else {
            path += letter;
        }
    }
    return path;
}

std::string git(const fs::path& folder, std::vector<std::string> arguments) {
    std::vector<std::string> command = {"/usr/bin/env", "git", "-C", folder.string(), "-c", "core.quotePath=false"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    const ChildResult done = run_child(command, {}, {longest_git_call, 0});
    if (done.timed_out || done.signal != 0 || done.exit_code != 0) {
        throw ConfigurationError(fmt::format(
            "--changed-since asks Git, and `git {}` failed in {}: {}; give a revision that it knows, of a repository "
            "that holds the paths.",
            fmt::join(arguments, " "), folder.string(),
            done.errors.empty() ? fmt::format("exit status {}", done.exit_code)
                                : done.errors.substr(0, done.errors.find('\n'))));
    }
    return done.output;
}

}  // namespace

void ChangedCode::add_diff(std::string_view diff, const fs::path& root) {
    std::string file;
    unsigned old_left = 0;
    unsigned new_left = 0;
    for (const std::string& line : split_lines(diff)) {
        if (old_left != 0 || new_left != 0) {
            // Lines of a hunk may look like anything.
            if (!line.starts_with('+') && !line.starts_with('\\')) old_left -= std::min(old_left, 1U);
            if (!line.starts_with('-') && !line.starts_with('\\')) new_left -= std::min(new_left, 1U);
        } else if (line.starts_with("+++ ")) {
            file = (root / unquoted(std::string_view(line).substr(4))).lexically_normal().string();
        } else if (line.starts_with("@@ ")) {
            const Side before = side_after(line, '-');
            const Side after = side_after(line, '+');
            old_left = before.count;
            new_left = after.count;
            // Where lines were only taken out, those around the gap stand for them.
            files_[file].emplace_back(after.first, after.first + std::max(after.count, 2U) - 1);
        }
    }
}

void ChangedCode::add_file(const fs::path& file) {
    files_[file.lexically_normal().string()].emplace_back(0, std::numeric_limits<unsigned>::max());
}

bool ChangedCode::contains(const Location& at) const {
    const auto file = files_.find(at.file);
    return file != files_.end() && std::any_of(file->second.begin(), file->second.end(), [&](const Range& range) {
               return range.first <= at.line && at.line <= range.second;
           });
}

bool ChangedCode::touches(const Finding& finding) const {
    return contains(finding.location) || std::any_of(finding.notes.begin(), finding.notes.end(),
                                                     [&](const PathNote& note) { return contains(note.location); });
}

ChangedCode changed_since(const std::string& revision, const std::vector<fs::path>& paths) {
    std::set<fs::path> roots;
    for (const fs::path& path : paths) {
        std::error_code ignored;
        const fs::path whole = fs::absolute(path).lexically_normal();
        const std::string root =
            git(fs::is_directory(whole, ignored) ? whole : whole.parent_path(), {"rev-parse", "--show-toplevel"});
        roots.insert(root.substr(0, root.find('\n')));
    }
    ChangedCode changed;
    for (const fs::path& root : roots) {
        std::string commit = git(root, {"rev-parse", "--verify", "--end-of-options", revision + "^{commit}"});
        commit.resize(std::min(commit.find('\n'), commit.size()));
        changed.add_diff(git(root, {"diff", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames",
                                    "--src-prefix=", "--dst-prefix=", "--unified=0", "--function-context", commit,
                                    "--"}),
                         root);
        const std::string others = git(root, {"ls-files", "--others", "--exclude-standard", "-z"});
        for (std::size_t start = 0; start < others.size();) {
            const std::size_t end = std::min(others.find('\0', start), others.size());
            changed.add_file(root / others.substr(start, end - start));
            start = end + 1;
        }
    }
    return changed;
}

}  // namespace pinwarden::scan
