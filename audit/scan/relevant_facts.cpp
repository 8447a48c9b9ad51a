// SPDX-License-Identifier: Apache-2.0
#include "relevant_facts.hpp"

#include <set>
#include <string>
#include <tuple>

namespace pinwarden::scan {

void keep_relevant(FileFacts& facts)
{
    std::set<std::string> members;
    std::set<std::string> records;
    for (const PinnedMember& fact : facts.pinned) {
        members.insert(fact.member);
        records.insert(fact.record);
    }
    for (const ReleasedMember& fact : facts.released) {
        members.insert(fact.member);
        records.insert(fact.record);
    }
    for (const MissedRelease& fact : facts.missed) {
        for (const Decision& decision : fact.decisions) {
            for (const auto& [member, value] : decision.flags)
                members.insert(member);
        }
    }
    std::erase_if(facts.sources,
                  [&](const MemberSource& fact) { return !members.contains(fact.member); });
    std::erase_if(facts.records, [&](const RecordFact& fact) { return !records.contains(fact.record); });
    std::erase_if(facts.flag_changes, [&](const FlagChange& fact) {
        return !records.contains(fact.record) && !members.contains(fact.member);
    });
    std::erase_if(facts.functions, [&](const FunctionFact& fact) {
        return fact.calls.empty() && fact.mentions.empty() && fact.releases.empty() && !fact.waits &&
               fact.function.find("@F@~") == std::string::npos;
    });
    std::set<std::tuple<std::string, std::string>> seen;
    std::erase_if(facts.sources,
                  [&](const MemberSource& fact) { return !seen.emplace(fact.member, fact.kind).second; });
}

}  // namespace pinwarden::scan
