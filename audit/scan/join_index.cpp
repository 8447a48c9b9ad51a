// SPDX-License-Identifier: Apache-2.0
#include "join_index.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace pinwarden::scan {

JoinIndex::JoinIndex(const std::vector<FileFacts>& files)
{
    for (const FileFacts& file : files) {
        for (const PinnedMember& fact : file.pinned)
            pinned[fact.member].push_back(&fact);
        for (const ReleasedMember& fact : file.released)
            released[fact.member].push_back(&fact);
        for (const MissedRelease& fact : file.missed)
            missed[fact.member].push_back(&fact);
        for (const FlagChange& fact : file.flag_changes)
            changes[fact.member].push_back(&fact);
        for (const LeftInFlight& fact : file.in_flight)
            in_flight[fact.member].push_back(&fact);
        for (const MemberSource& fact : file.sources)
            sources[fact.member].insert(fact.kind);
        for (const RecordFact& fact : file.records) {
            const RecordFact*& known = records[fact.record];
            if (!known || (known->unsure && !fact.unsure))
                known = &fact;
        }
        for (const FunctionFact& fact : file.functions)
            functions.emplace(fact.function, &fact);
        for (const CallbackFact& fact : file.callbacks)
            callbacks.push_back(&fact);
        for (const FreedRecord& fact : file.freed_records)
            freed_records.push_back(&fact);
        for (const FreedBeforeRelease& fact : file.freed_before_release)
            freed_before_release.push_back(&fact);
    }
}

std::set<std::string> JoinIndex::reached_from(const std::string& function) const
{
    std::set<std::string> seen{function};
    std::vector<std::string> work{function};
    while (!work.empty()) {
        const auto at = functions.find(work.back());
        work.pop_back();
        if (at == functions.end())
            continue;
        for (const std::string& callee : at->second->calls) {
            if (seen.insert(callee).second)
                work.push_back(callee);
        }
    }
    return seen;
}

std::vector<const PinnedMember*> JoinIndex::outermost_pins(const std::string& member) const
{
    const auto at = pinned.find(member);
    if (at == pinned.end())
        return {};
    std::set<std::string> called;
    for (const PinnedMember* fact : at->second) {
        const auto function = functions.find(fact->function);
        if (function == functions.end())
            continue;
        for (const std::string& callee : function->second->calls) {
            if (callee != fact->function)
                called.insert(callee);
        }
    }
    std::vector<const PinnedMember*> out;
    for (const PinnedMember* fact : at->second) {
        if (!fact->foreign && !fact->by_element && !called.contains(fact->function))
            out.push_back(fact);
    }
    return out;
}

void JoinResult::add(const char* rule, Confidence confidence, const Location& location, std::string message,
                     const std::string& function, std::vector<PathNote> notes)
{
    findings.push_back(
        {rule, confidence, location, std::move(message), simple_name(function), std::move(notes)});
}

std::string simple_name(const std::string& function)
{
    const std::size_t at = function.rfind("@F@");
    if (at == std::string::npos)
        return function;
    const std::string rest = function.substr(at + 3);
    return rest.substr(0, rest.find('#'));
}

bool ends_object(const std::string& name)
{
    static constexpr std::array<std::string_view, 28> words{
        "destroy",    "close",  "free",       "release", "detach", "fini",   "exit",
        "clean",      "deinit", "shutdown",   "delete",  "unmap",  "clear",  "dispose",
        "teardown",   "term",   "stop",       "remove",  "reset",  "uninit", "dealloc",
        "unregister", "unload", "disconnect", "finish",  "end",    "dtor",   "drop"};
    if (name.starts_with("~"))
        return true;
    std::string lower;
    for (const char c : name)
        lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
        const std::size_t at = lower.find(word);
        if (at == std::string::npos)
            return false;
        return at == 0 || lower[at - 1] == '_' || std::isupper(static_cast<unsigned char>(name[at])) != 0;
    });
}

std::string short_name(const std::string& key)
{
    const std::size_t at = key.rfind("::");
    return at == std::string::npos ? key : key.substr(at + 2);
}

}  // namespace pinwarden::scan
