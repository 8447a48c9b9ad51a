// SPDX-License-Identifier: Apache-2.0
#include "join_index.hpp"

#include <algorithm>

namespace pinwarden::scan {
namespace {

const std::vector<const ReleasedMember*>& releases_of(const JoinIndex& index, const std::string& member)
{
    static const std::vector<const ReleasedMember*> none;
    const auto at = index.released.find(member);
    return at == index.released.end() ? none : at->second;
}

/// True if nothing the destructor calls can release the member in a way that was not seen.
bool destructor_leaves_alone(const JoinIndex& index, const RecordFact& record, const std::string& member)
{
    if (!index.functions.contains(record.destructor))
        return false;
    const std::string own = "@" + short_name(record.name) + "@F@";
    for (const std::string& reached : index.reached_from(record.destructor)) {
        const auto at = index.functions.find(reached);
        if (at == index.functions.end()) {
            if (reached.find(own) != std::string::npos)
                return false;
            continue;
        }
        const std::vector<std::string>& mentions = at->second->mentions;
        if (std::find(mentions.begin(), mentions.end(), member) != mentions.end())
            return false;
    }
    return true;
}

void check_destructor(const JoinIndex& index, JoinResult& result, const std::string& member,
                      const std::vector<const PinnedMember*>& pins)
{
    const PinnedMember* pin = nullptr;
    for (const PinnedMember* candidate : pins) {
        const bool own_method = !candidate->foreign && candidate->function_record == candidate->record;
        if (own_method && (!pin || (candidate->in_constructor && !pin->in_constructor)))
            pin = candidate;
    }
    if (!pin || result.settled_members.contains(member) || result.settled_records.contains(pin->record))
        return;
    const auto at = index.records.find(pin->record);
    if (at == index.records.end() || !at->second->is_class)
        return;
    const RecordFact& record = *at->second;
    const std::vector<const ReleasedMember*>& releases = releases_of(index, member);
    const bool by_destructor =
        std::any_of(releases.begin(), releases.end(),
                    [](const ReleasedMember* release) { return release->in_destructor; });
    if (by_destructor)
        return;
    const bool by_someone = std::any_of(releases.begin(), releases.end(), [&](const ReleasedMember* release) {
        return release->function_record != pin->record || ends_object(simple_name(release->function));
    });
    if (by_someone)
        return;
    if (record.has_destructor && !destructor_leaves_alone(index, record, member))
        return;
    if (!record.has_destructor) {
        for (const auto& [id, function] : index.functions) {
            const bool ends = ends_object(simple_name(id));
            if (ends && std::find(function->mentions.begin(), function->mentions.end(), member) !=
                            function->mentions.end())
                return;
        }
    }
    result.add("no-releasing-destructor", Confidence::certain, pin->location,
               record.has_destructor
                   ? "the destructor of '" + record.name + "' does not release '" + short_name(member) + "'"
                   : "'" + record.name + "' pins into '" + short_name(member) +
                         "', but has no destructor that releases it",
               pin->function, {{record.location, "the class is defined here"}});
    result.settled_members.insert(member);
}

void check_copies(const JoinIndex& index, JoinResult& result,
                  const std::vector<const ReleasedMember*>& releases)
{
    for (const ReleasedMember* release : releases) {
        const auto at = index.records.find(release->record);
        if (!release->in_destructor || release->is_free || release->function_record != release->record ||
            at == index.records.end() || at->second->unsure || !at->second->copyable)
            continue;
        result.add("copyable-owner", Confidence::likely, at->second->location,
                   "'" + at->second->name + "' releases '" + short_name(release->member) +
                       "' in its destructor, and can be copied: two objects would release one pin",
                   release->function, {{release->location, "released here"}});
        return;
    }
}

}  // namespace

void join_classes(const JoinIndex& index, JoinResult& result)
{
    for (const auto& [member, pins] : index.pinned)
        check_destructor(index, result, member, pins);
    for (const auto& [member, releases] : index.released)
        check_copies(index, result, releases);
}

}  // namespace pinwarden::scan
