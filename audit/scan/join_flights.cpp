// SPDX-License-Identifier: Apache-2.0
#include "join_index.hpp"

#include <algorithm>

namespace pinwarden::scan {
namespace {

/// True if another method of the class waits for the device: then its users can, and the class leaves it to
/// them.
bool lets_users_wait(const JoinIndex& index, const LeftInFlight& left, const ReleasedMember& release)
{
    return std::any_of(index.functions.begin(), index.functions.end(), [&](const auto& entry) {
        const FunctionFact& function = *entry.second;
        return function.waits && function.record == left.function_record &&
               function.function != left.function && function.function != release.function;
    });
}

}  // namespace

/// `release-in-flight` across methods: one leaves a copy on the object's own stream, the destructor does not
/// wait.
void join_flights(const JoinIndex& index, JoinResult& result)
{
    for (const auto& [member, list] : index.in_flight) {
        const auto releases = index.released.find(member);
        if (releases == index.released.end())
            continue;
        for (const ReleasedMember* release : releases->second) {
            const LeftInFlight& left = *list.front();
            if (!release->in_destructor || release->after_sync || release->is_free ||
                left.function_record != release->function_record || lets_users_wait(index, left, *release))
                continue;
            result.add("release-in-flight", Confidence::likely, release->location,
                       "'" + short_name(member) + "' is released while a copy of it may still be in flight",
                       release->function, {{left.location, "this function returns with a copy in flight"}});
            break;
        }
    }
}

}  // namespace pinwarden::scan
