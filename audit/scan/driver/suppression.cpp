// SPDX-License-Identifier: Apache-2.0
#include "scan/driver/suppression.hpp"

#include <algorithm>
#include <cctype>
#include <optional>

namespace pinwarden::scan {

namespace {

constexpr std::string_view allow_mark = "pinwarden: allow(";
constexpr std::string_view blanks = " \t\r";

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// The words of a list with commas.
bool lists(std::string_view list, std::string_view word) {
    while (!list.empty()) {
        const std::size_t comma = std::min(list.find(','), list.size());
        if (trimmed(list.substr(0, comma)) == word) return true;
        list.remove_prefix(std::min(comma + 1, list.size()));
    }
    return false;
}

struct Allow {
    std::size_t column = 0;
    std::string_view rules;
    std::string_view reason;
};

/// The `pinwarden: allow(...)` of a line, if it stands in a comment.
std::optional<Allow> allow_of(std::string_view line) {
    const std::size_t mark = line.find(allow_mark);
    if (mark == std::string_view::npos) return std::nullopt;
    const std::string_view before = trimmed(line.substr(0, mark));
    if (!before.ends_with("//") && !before.ends_with("/*") && !before.ends_with("*")) return std::nullopt;
    const std::size_t open = mark + allow_mark.size();
    const std::size_t close = line.find(')', open);
    if (close == std::string_view::npos) return std::nullopt;
    std::string_view reason = line.substr(close + 1);
    reason = trimmed(reason.substr(0, std::min(reason.find("*/"), reason.size())));
    while (!reason.empty() && (reason.front() == ':' || reason.front() == '-' || reason.front() == ' '))
        reason.remove_prefix(1);
    return Allow{mark, line.substr(open, close - open), reason};
}

bool allows(std::string_view line, const std::string& rule) {
    const std::optional<Allow> allow = allow_of(line);
    return allow && (lists(allow->rules, rule) || lists(allow->rules, "*"));
}

/// clang-tidy's comment: alone for everything, with a list for the checks named.
bool has_nolint(std::string_view line, std::string_view word, const std::string& rule) {
    const std::size_t at = line.find(word);
    if (at == std::string_view::npos) return false;
    const std::string_view before = line.substr(0, at);
    if (before.find("//") == std::string_view::npos && before.find("/*") == std::string_view::npos) return false;
    const std::string_view rest = line.substr(at + word.size());
    if (rest.empty() || rest.front() != '(') {
        return rest.empty() || std::isalnum(static_cast<unsigned char>(rest.front())) == 0;
    }
    const std::string_view list = rest.substr(1, std::min(rest.find(')'), rest.size()) - 1);
    return lists(list, "pinwarden-" + rule) || lists(list, "pinwarden-*") || lists(list, "*");
}

bool is_comment_alone(std::string_view line) {
    const std::string_view text = trimmed(line);
    return text.starts_with("//") || (text.starts_with("/*") && text.ends_with("*/"));
}

}  // namespace

std::vector<std::string> split_lines(std::string_view text) {
    std::vector<std::string> lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        lines.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

bool is_suppressed(const std::vector<std::string>& lines, unsigned line, const std::string& rule) {
    if (line == 0 || line > lines.size()) return false;
    const std::string& own = lines[line - 1];
    if (allows(own, rule) || has_nolint(own, "NOLINT", rule)) return true;
    if (line == 1) return false;
    const std::string& before = lines[line - 2];
    return (is_comment_alone(before) && allows(before, rule)) || has_nolint(before, "NOLINTNEXTLINE", rule);
}

std::vector<Finding> reasonless_suppressions(const std::string& file, const std::vector<std::string>& lines) {
    std::vector<Finding> findings;
    for (std::size_t index = 0; index < lines.size(); ++index) {
        const std::optional<Allow> allow = allow_of(lines[index]);
        if (!allow || !allow->reason.empty()) continue;
        Finding finding;
        finding.rule = reasonless_rule;
        finding.location = {file, static_cast<unsigned>(index + 1), static_cast<unsigned>(allow->column + 1)};
        finding.message = "this comment allows '" + std::string(allow->rules) +
                          "' and does not say why; write the reason behind it";
        findings.push_back(std::move(finding));
    }
    return findings;
}

}  // namespace pinwarden::scan
