// SPDX-License-Identifier: Apache-2.0
#include "facts.hpp"

#include <nlohmann/json.hpp>

namespace pinwarden::scan {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Decision, text, taken, flags, opaque, in_loop)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PinnedMember, member, record, family, api, location, function,
                                   function_record, in_constructor, registers_foreign_memory, foreign,
                                   by_element, memory_member, flags, decisions, preprocessor)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ReleasedMember, member, record, family, api, is_free, location, function,
                                   function_record, in_destructor, after_sync, in_loop, always, flags,
                                   decisions, preprocessor)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(MissedRelease, member, record, family, location, function, function_record,
                                   in_destructor, answers_error, decisions, flags)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(FlagChange, record, member, value, constant, function, touched)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LeftInFlight, member, record, location, function, function_record)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RecordFact, record, name, location, is_class, has_destructor, destructor,
                                   copyable, unsure)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(FunctionFact, function, record, location, exported, is_public, calls,
                                   mentions, waits, releases, release_names)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CallbackFact, function, location)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(FreedRecord, record, function, location)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(FreedBeforeRelease, freed_member, released_member, location, function)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(MemberSource, member, kind)

void to_json(nlohmann::json& out, const FileFacts& facts)
{
    out = {{"file", facts.file},
           {"pinned", facts.pinned},
           {"released", facts.released},
           {"missed", facts.missed},
           {"flag_changes", facts.flag_changes},
           {"in_flight", facts.in_flight},
           {"records", facts.records},
           {"functions", facts.functions},
           {"callbacks", facts.callbacks},
           {"freed_records", facts.freed_records},
           {"freed_before_release", facts.freed_before_release},
           {"sources", facts.sources},
           {"wrappers", facts.wrappers},
           {"tentative", facts.tentative}};
}

void from_json(const nlohmann::json& in, FileFacts& facts)
{
    in.at("file").get_to(facts.file);
    in.at("pinned").get_to(facts.pinned);
    in.at("released").get_to(facts.released);
    in.at("missed").get_to(facts.missed);
    in.at("flag_changes").get_to(facts.flag_changes);
    in.at("in_flight").get_to(facts.in_flight);
    in.at("records").get_to(facts.records);
    in.at("functions").get_to(facts.functions);
    in.at("callbacks").get_to(facts.callbacks);
    in.at("freed_records").get_to(facts.freed_records);
    in.at("freed_before_release").get_to(facts.freed_before_release);
    in.at("sources").get_to(facts.sources);
    in.at("wrappers").get_to(facts.wrappers);
    in.at("tentative").get_to(facts.tentative);
}

}  // namespace pinwarden::scan
