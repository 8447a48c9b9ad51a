// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "facts.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

/// The facts of all files, sorted for the rules that join them.
namespace pinwarden::scan {

class JoinIndex {
public:
    explicit JoinIndex(const std::vector<FileFacts>& files);

    template <class Fact>
    using ByMember = std::map<std::string, std::vector<const Fact*>>;

    ByMember<PinnedMember> pinned;
    ByMember<ReleasedMember> released;
    ByMember<MissedRelease> missed;
    ByMember<FlagChange> changes;
    ByMember<LeftInFlight> in_flight;
    std::map<std::string, std::set<std::string>> sources;
    std::map<std::string, const RecordFact*> records;
    std::map<std::string, const FunctionFact*> functions;
    std::vector<const CallbackFact*> callbacks;
    std::vector<const FreedRecord*> freed_records;
    std::vector<const FreedBeforeRelease*> freed_before_release;

    /// The function and everything it calls, as far as the definitions were seen.
    std::set<std::string> reached_from(const std::string& function) const;

    /// Pins of the member by functions that no other pinning function calls: the states an object is left in.
    std::vector<const PinnedMember*> outermost_pins(const std::string& member) const;
};

/// What the rules over joined facts have found, and which members and releases are done with.
struct JoinResult {
    std::vector<Finding> findings;
    std::set<std::string> settled_members;
    std::set<std::string> settled_records;

    void add(const char* rule, Confidence confidence, const Location& location, std::string message,
             const std::string& function, std::vector<PathNote> notes = {});
};

/// The bare name of a function from its id.
std::string simple_name(const std::string& function);

/// True for the name of a function that ends the life of an object: `destroy`, `x_close`, `freeBuffers`.
bool ends_object(const std::string& name);

/// The last part of a member's key, for messages.
std::string short_name(const std::string& key);

// One group of rules each; they run in this order, since one defect gets one finding.
void join_callbacks(const JoinIndex& index, JoinResult& result);
void join_wrong_releases(const JoinIndex& index, JoinResult& result);
void join_conditions(const JoinIndex& index, JoinResult& result);
void join_flights(const JoinIndex& index, JoinResult& result);
void join_classes(const JoinIndex& index, JoinResult& result);
void join_structs(const JoinIndex& index, JoinResult& result);

}  // namespace pinwarden::scan
