// SPDX-License-Identifier: Apache-2.0
#include "join_index.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace pinwarden::scan {
namespace {

/// Conditions that ask for the last user, for the end of the process or for the end of work: a release waits
/// for these with good reason.
bool waits_for_reason(const Decision& decision)
{
    static constexpr std::array<std::string_view, 30> words{
        "--",       "fetch_sub",   "refcount",    "ref_count",     "use_count",    "users",
        "unique",   "exit",        "shutdown",    "unload",        "terminat",     "alive",
        "ready",    "done",        "complete",    "query",         "owner",        "owned",
        "owns",     "try_lock",    "atomic_load", "cudasetdevice", "hipsetdevice", "getdevice",
        "ismaster", "deviceguard", "dec(",        "unref",         "current",      "external"};
    std::string text;
    for (const char c : decision.text)
        text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return std::any_of(words.begin(), words.end(),
                       [&](std::string_view word) { return text.find(word) != std::string::npos; });
}

/// True if some function other than those of the pin sets the member to the value without touching the pin.
bool changed_in_between(const JoinIndex& index, const std::string& flag, bool value, const PinnedMember& pin,
                        const MissedRelease& missed)
{
    const auto changes = index.changes.find(flag);
    if (changes == index.changes.end())
        return false;
    return std::any_of(changes->second.begin(), changes->second.end(), [&](const FlagChange* change) {
        const bool touches =
            std::find(change->touched.begin(), change->touched.end(), pin.member) != change->touched.end();
        return change->constant && change->value == value && !touches && change->function != pin.function &&
               change->function != missed.function;
    });
}

/// True if the member may have the value at all: it is set to it somewhere, or never set in the code that was
/// seen.
bool can_have(const JoinIndex& index, const std::string& flag, bool value)
{
    const auto changes = index.changes.find(flag);
    if (changes == index.changes.end())
        return true;
    return std::any_of(changes->second.begin(), changes->second.end(),
                       [&](const FlagChange* change) { return !change->constant || change->value == value; });
}

/// True if an object in the state the pin leaves it in may take the way that misses the release.
bool can_follow(const JoinIndex& index, const PinnedMember& pin, const MissedRelease& missed)
{
    bool changed = false;
    for (const auto& [flag, value] : missed.flags) {
        const auto known = pin.flags.find(flag);
        if (known != pin.flags.end()) {
            if (known->second == value)
                continue;
            if (!changed_in_between(index, flag, value, pin, missed))
                return false;
            changed = true;
        } else if (!can_have(index, flag, value)) {
            return false;
        }
    }
    if (changed)
        return true;
    for (const Decision& decision : missed.decisions) {
        for (const Decision& before : pin.decisions) {
            if (before.text == decision.text && before.taken != decision.taken)
                return false;
        }
    }
    return true;
}

bool is_conclusive(const MissedRelease& missed)
{
    bool conclusive = false;
    for (const Decision& decision : missed.decisions) {
        if (waits_for_reason(decision))
            return false;
        conclusive |= !decision.flags.empty() || decision.opaque;
    }
    return conclusive;
}

bool released_elsewhere(const JoinIndex& index, const MissedRelease& missed)
{
    const auto releases = index.released.find(missed.member);
    if (releases == index.released.end())
        return false;
    return std::any_of(releases->second.begin(), releases->second.end(), [&](const ReleasedMember* release) {
        if (release->is_free || release->function == missed.function)
            return false;
        return missed.in_destructor ? release->in_destructor && release->always
                                    : release->always && ends_object(simple_name(release->function));
    });
}

bool pins_too(const JoinIndex& index, const std::string& member, const std::string& function)
{
    const auto pins = index.pinned.find(member);
    return pins != index.pinned.end() &&
           std::any_of(pins->second.begin(), pins->second.end(),
                       [&](const PinnedMember* pin) { return pin->function == function; });
}

void check_missed(const JoinIndex& index, JoinResult& result, const MissedRelease& missed)
{
    const auto record = index.records.find(missed.record);
    const bool has_destructor = record != index.records.end() && record->second->has_destructor;
    if (!missed.in_destructor && (has_destructor || !ends_object(simple_name(missed.function)) ||
                                  missed.answers_error || pins_too(index, missed.member, missed.function)))
        return;
    if (result.settled_members.contains(missed.member) || !is_conclusive(missed) ||
        released_elsewhere(index, missed))
        return;
    for (const PinnedMember* pin : index.outermost_pins(missed.member)) {
        if (!ApiTable::compatible(pin->family, missed.family) || !can_follow(index, *pin, missed))
            continue;
        std::vector<PathNote> notes{{pin->location, "'" + short_name(missed.member) + "' is pinned here"}};
        std::string conditions;
        for (const Decision& decision : missed.decisions)
            conditions += (conditions.empty() ? "'" : ", '") + decision.text + "' is " +
                          (decision.taken ? "true" : "false");
        result.add("conditional-release", missed.flags.empty() ? Confidence::likely : Confidence::certain,
                   missed.location,
                   "'" + short_name(missed.member) + "' is not released when " + conditions +
                       ", which does not follow from how it was pinned",
                   missed.function, std::move(notes));
        result.settled_members.insert(missed.member);
        return;
    }
}

/// `conditional-release` by the preprocessor: other builds pin, but do not release.
void check_preprocessor(const JoinIndex& index, JoinResult& result, const std::string& member,
                        const std::vector<const ReleasedMember*>& releases)
{
    const auto pins = index.pinned.find(member);
    if (pins == index.pinned.end() || result.settled_members.contains(member))
        return;
    for (const ReleasedMember* release : releases) {
        if (release->is_free || release->preprocessor.empty() ||
            !(release->in_destructor || ends_object(simple_name(release->function))))
            continue;
        const bool free_of_it =
            std::any_of(releases.begin(), releases.end(), [&](const ReleasedMember* other) {
                return other->preprocessor.empty() && other->function == release->function;
            });
        const bool same_for_pin =
            std::any_of(pins->second.begin(), pins->second.end(), [&](const PinnedMember* pin) {
                return std::all_of(release->preprocessor.begin(), release->preprocessor.end(),
                                   [&](const std::string& condition) {
                                       return std::find(pin->preprocessor.begin(), pin->preprocessor.end(),
                                                        condition) != pin->preprocessor.end();
                                   });
            });
        if (free_of_it || same_for_pin)
            continue;
        result.add("conditional-release", Confidence::certain, release->location,
                   "'" + short_name(member) + "' is pinned in every build, but released only where " +
                       release->preprocessor.front() + " holds",
                   release->function, {{pins->second.front()->location, "pinned here"}});
        result.settled_members.insert(member);
        return;
    }
}

}  // namespace

void join_conditions(const JoinIndex& index, JoinResult& result)
{
    for (const auto& [member, list] : index.missed) {
        for (const MissedRelease* missed : list)
            check_missed(index, result, *missed);
    }
    for (const auto& [member, releases] : index.released)
        check_preprocessor(index, result, member, releases);
}

}  // namespace pinwarden::scan
