// SPDX-License-Identifier: Apache-2.0
#include "join_index.hpp"

#include <algorithm>

namespace pinwarden::scan {
namespace {

bool contradicts(const Flags& left, const Flags& right)
{
    return std::any_of(left.begin(), left.end(), [&](const auto& flag) {
        const auto other = right.find(flag.first);
        return other != right.end() && other->second != flag.second;
    });
}

std::set<std::string> sources_of(const JoinIndex& index, const std::string& member)
{
    const auto at = index.sources.find(member);
    return at == index.sources.end() ? std::set<std::string>{} : at->second;
}

bool is_registration(const std::string& family)
{
    return family.ends_with("-register") || family == "mlock";
}

/// `wrong-release` by the members' own history: what one function pins, another gives back by another
/// family's call.
void check_family(const JoinIndex& index, JoinResult& result, const ReleasedMember& release,
                  const std::vector<const PinnedMember*>& pins)
{
    const PinnedMember* pin = nullptr;
    for (const PinnedMember* candidate : pins) {
        if (ApiTable::compatible(candidate->family, release.family))
            return;
        if (!candidate->foreign && !candidate->by_element && !contradicts(candidate->flags, release.flags))
            pin = candidate;
    }
    if (!pin)
        return;
    const std::set<std::string> sources = sources_of(index, release.member);
    const bool elsewhere = sources.contains("other") || sources.contains("device-view");
    if (pin->registers_foreign_memory) {
        if (release.is_free || is_registration(release.family) || elsewhere)
            return;
    } else if (elsewhere || sources.contains("allocated")) {
        return;
    }
    if (pin->family == "verbs" || pin->family == "uring" || release.family == "verbs" ||
        release.family == "uring")
        return;
    result.add("wrong-release", Confidence::certain, release.location,
               "'" + short_name(release.member) + "' is pinned by '" + pin->api + "' and released by '" +
                   release.api + "'",
               release.function, {{pin->location, "pinned here"}});
    result.settled_members.insert(release.member);
}

/// `wrong-argument`: a member that only ever holds the device's address of some memory is released.
void check_view(const JoinIndex& index, JoinResult& result, const ReleasedMember& release)
{
    std::set<std::string> sources = sources_of(index, release.member);
    sources.erase("null");
    if (release.is_free || sources != std::set<std::string>{"device-view"} ||
        index.pinned.contains(release.member))
        return;
    result.add("wrong-argument", Confidence::certain, release.location,
               "'" + release.api + "' is given '" + short_name(release.member) +
                   "', the device's address of the memory, not the host's",
               release.function);
    result.settled_records.insert(release.record);
}

/// `double-release`: the memory was registered by someone else, and is unregistered all the same.
void check_foreign(JoinResult& result, const ReleasedMember& release,
                   const std::vector<const PinnedMember*>& pins)
{
    for (const PinnedMember* pin : pins) {
        if (!pin->foreign || contradicts(pin->flags, release.flags) || release.is_free)
            continue;
        result.add("double-release", Confidence::certain, release.location,
                   "'" + release.api + "' takes back a registration that someone else has made",
                   release.function,
                   {{pin->location, "the memory may be registered already, and that is taken for success"}});
        result.settled_members.insert(release.member);
        return;
    }
}

}  // namespace

void join_wrong_releases(const JoinIndex& index, JoinResult& result)
{
    for (const auto& [member, releases] : index.released) {
        const auto pins = index.pinned.find(member);
        for (const ReleasedMember* release : releases) {
            check_view(index, result, *release);
            if (pins == index.pinned.end())
                continue;
            check_family(index, result, *release, pins->second);
            check_foreign(result, *release, pins->second);
        }
    }
    for (const FreedBeforeRelease* fact : index.freed_before_release) {
        const auto pins = index.pinned.find(fact->released_member);
        if (pins == index.pinned.end())
            continue;
        for (const PinnedMember* pin : pins->second) {
            if (pin->memory_member != fact->freed_member)
                continue;
            result.add("freed-while-registered", Confidence::certain, fact->location,
                       "'" + short_name(fact->freed_member) + "' is given back while '" +
                           short_name(fact->released_member) + "' still pins it",
                       fact->function, {{pin->location, "pinned here"}});
            break;
        }
    }
}

}  // namespace pinwarden::scan
