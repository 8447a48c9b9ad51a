// SPDX-License-Identifier: Apache-2.0
#include "join_index.hpp"

#include <algorithm>

namespace pinwarden::scan {
namespace {

/// True if some function may release the member in a way that the path-sensitive analysis did not see.
bool may_be_released(const JoinIndex& index, const std::string& member)
{
    std::set<std::string> explained;
    if (const auto at = index.released.find(member); at != index.released.end()) {
        for (const ReleasedMember* release : at->second) {
            if (!release->is_free)
                return true;
            explained.insert(release->function);
        }
    }
    for (const PinnedMember* pin : index.pinned.at(member))
        explained.insert(pin->function);
    return std::any_of(index.functions.begin(), index.functions.end(), [&](const auto& entry) {
        const FunctionFact& function = *entry.second;
        return !explained.contains(function.function) &&
               std::find(function.mentions.begin(), function.mentions.end(), member) !=
                   function.mentions.end();
    });
}

}  // namespace

/// `leak` of what a structure holds: the structure is freed, and nobody releases the pin in it.
void join_structs(const JoinIndex& index, JoinResult& result)
{
    for (const auto& [member, pins] : index.pinned) {
        const PinnedMember& pin = *pins.front();
        const auto record = index.records.find(pin.record);
        if (result.settled_members.contains(member) || pin.foreign || pin.by_element ||
            record == index.records.end() || record->second->is_class || record->second->unsure ||
            may_be_released(index, member))
            continue;
        const auto freed = std::find_if(index.freed_records.begin(), index.freed_records.end(),
                                        [&](const FreedRecord* fact) { return fact->record == pin.record; });
        if (freed == index.freed_records.end())
            continue;
        result.add("leak", Confidence::likely, pin.location,
                   "'" + short_name(member) + "' is pinned here, and lost when the '" + record->second->name +
                       "' that holds it is freed",
                   pin.function, {{(*freed)->location, "freed here without releasing the pin"}});
    }
}

}  // namespace pinwarden::scan
