// SPDX-License-Identifier: Apache-2.0
#include "command/report/difference.hpp"

#include "report/plain_text.hpp"

#include <pinwarden/core/bytes.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

namespace pinwarden::command {

namespace {

using audit::PinGroup;
using audit::PinIdentity;
using audit::Tally;

constexpr std::array kinds{ChangeKind::appeared, ChangeKind::grown, ChangeKind::shrunk, ChangeKind::gone};

std::optional<ChangeKind> kind_of(const Tally& before, const Tally& after) {
    if (before.pins == 0) return ChangeKind::appeared;
    if (after.pins == 0) return ChangeKind::gone;
    if (after.pins > before.pins || after.bytes > before.bytes) return ChangeKind::grown;
    if (after.pins < before.pins || after.bytes < before.bytes) return ChangeKind::shrunk;
    return std::nullopt;
}

/// The bytes that a change is about.
std::size_t weight(const Change& change) {
    return std::max(change.before.bytes, change.after.bytes) - std::min(change.before.bytes, change.after.bytes);
}

std::string pins_of(const Tally& tally) {
    return fmt::format("{} {} of {}", tally.pins, tally.pins == 1 ? "pin" : "pins", format_bytes(tally.bytes));
}

std::string amount(const Change& change) {
    switch (change.kind) {
        case ChangeKind::appeared: return pins_of(change.after);
        case ChangeKind::gone: return pins_of(change.before);
        case ChangeKind::grown:
        case ChangeKind::shrunk: break;
    }
    return pins_of(change.before) + " -> " + pins_of(change.after);
}

std::ptrdiff_t number_of(const std::vector<Change>& changes, ChangeKind kind) {
    return std::ranges::count(changes, kind, &Change::kind);
}

nlohmann::ordered_json json_of(const Tally& tally) {
    return {{"pins", tally.pins}, {"bytes", tally.bytes}, {"locked_bytes", tally.locked_bytes}};
}

}  // namespace

std::string_view to_string(ChangeKind kind) noexcept {
    switch (kind) {
        case ChangeKind::appeared: return "new";
        case ChangeKind::grown: return "grown";
        case ChangeKind::shrunk: return "shrunk";
        case ChangeKind::gone: break;
    }
    return "gone";
}

std::vector<Change> compare(const audit::StoredReport& before, const audit::StoredReport& after) {
    std::map<PinIdentity, Change> by_identity;
    for (const PinGroup& group : group_by_identity(before)) {
        by_identity[group.identity] = {.identity = group.identity, .line = group.line, .before = group.tally};
    }
    for (const PinGroup& group : group_by_identity(after)) {
        Change& change = by_identity[group.identity];
        change.identity = group.identity;
        change.line = group.line;
        change.after = group.tally;
    }
    std::vector<Change> changes;
    for (auto& [identity, change] : by_identity) {
        const auto kind = kind_of(change.before, change.after);
        if (!kind) continue;
        change.kind = *kind;
        changes.push_back(std::move(change));
    }
    std::ranges::stable_sort(changes, [](const Change& left, const Change& right) {
        return std::pair(left.kind, weight(right)) < std::pair(right.kind, weight(left));
    });
    return changes;
}

bool is_worse(const std::vector<Change>& changes) noexcept {
    return std::ranges::any_of(changes, [](const Change& change) {
        return (change.kind == ChangeKind::appeared || change.kind == ChangeKind::grown) &&
               change.identity.state != audit::PinState::cached;
    });
}

std::string changes_text(const std::vector<Change>& changes, const std::string& before, const std::string& after) {
    std::string text = fmt::format("from '{}' to '{}':", before, after);
    for (const ChangeKind kind : kinds) {
        fmt::format_to(std::back_inserter(text), "{} {} {}", kind == kinds.front() ? "" : ",",
                       number_of(changes, kind), to_string(kind));
    }
    for (const Change& change : changes) {
        const PinIdentity& identity = change.identity;
        fmt::format_to(std::back_inserter(text), "\n  {:<6} {}:{}: {} '{}', {}", to_string(change.kind),
                       audit::printable(identity.file), change.line, audit::to_string(identity.state),
                       identity.label.empty() ? "unlabelled" : audit::printable(identity.label), amount(change));
        if (!identity.scope.empty()) {
            fmt::format_to(std::back_inserter(text), ", scope '{}'", audit::printable(identity.scope));
        }
    }
    return text + "\n";
}

std::string changes_json(const std::vector<Change>& changes, const std::string& before, const std::string& after) {
    using Json = nlohmann::ordered_json;
    Json list = Json::array();
    for (const Change& change : changes) {
        list.push_back({{"kind", to_string(change.kind)},
                        {"state", audit::to_string(change.identity.state)},
                        {"label", change.identity.label},
                        {"scope", change.identity.scope},
                        {"file", change.identity.file},
                        {"line", change.line},
                        {"function", change.identity.function},
                        {"fingerprint", audit::fingerprint(change.identity)},
                        {"before", json_of(change.before)},
                        {"after", json_of(change.after)}});
    }
    const Json document = {{"schema", "pinwarden-leak-report-changes"},
                           {"version", 1},
                           {"before", before},
                           {"after", after},
                           {"worse", is_worse(changes)},
                           {"changes", std::move(list)}};
    return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace pinwarden::command
