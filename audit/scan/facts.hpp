// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api_table.hpp"
#include "finding.hpp"

#include <nlohmann/json_fwd.hpp>

#include <map>
#include <string>
#include <vector>

/// What one file tells about pins that outlive a function: which members are pinned where, in which states of
/// the object, and who gives them back. Facts of all files are joined, so that a destructor may live in
/// another file than the constructor. Members are named "Record@file:line::member", which is the same in
/// every file that includes the record's header.
namespace pinwarden::scan {

/// What is known of the other members of an object: member name to "is not zero".
using Flags = std::map<std::string, bool>;

/// A condition on the way to a point: its text without `this->` or the object's name, and which way it went.
struct Decision {
    std::string text;
    bool taken = false;
    Flags flags;           ///< members whose value the condition fixes
    bool opaque = false;   ///< asks something else than members, parameters and constants of the object
    bool in_loop = false;  ///< decides whether a loop goes on
};

/// One way for a function to end with a pin held by a member.
struct PinnedMember {
    std::string member;
    std::string record;
    std::string family;
    std::string api;
    Location location;  ///< the pin call, in the function below
    std::string function;
    std::string function_record;  ///< the class whose method this is, empty for a free function
    bool in_constructor = false;
    bool registers_foreign_memory = false;
    bool foreign = false;  ///< the call answered that someone else had pinned it, and the function takes that
                           ///< for success
    bool by_element =
        false;  ///< the pin goes into an element of the member, which is an array or a container
    std::string memory_member;  ///< the member whose memory the pin covers, if another one
    Flags flags;
    std::vector<Decision> decisions;
    std::vector<std::string> preprocessor;
};

/// A call that gives back, or tries to give back, what a member holds.
struct ReleasedMember {
    std::string member;
    std::string record;
    std::string family;
    std::string api;
    bool is_free = false;  ///< the call belongs to an allocator that never pins
    Location location;
    std::string function;
    std::string function_record;
    bool in_destructor = false;
    bool after_sync = false;  ///< something on the way may have waited for the device
    bool in_loop = false;
    bool always = false;  ///< every way through the function releases it, or finds the member null
    Flags flags;
    std::vector<Decision> decisions;
    std::vector<std::string> preprocessor;
};

/// A way through a releasing function that leaves the member alone though nothing shows that it is null.
struct MissedRelease {
    std::string member;
    std::string record;
    std::string family;
    Location location;  ///< the release that other ways reach
    std::string function;
    std::string function_record;
    bool in_destructor = false;
    bool answers_error = false;
    std::vector<Decision> decisions;  ///< only those that part this way from the releasing ones
    Flags flags;
};

/// A function that changes a member without touching the pin that other functions guard with it.
struct FlagChange {
    std::string record;
    std::string member;
    bool value = false;
    bool constant = true;
    std::string function;
    std::vector<std::string> touched;  ///< pinned members that the same function assigns, pins or releases
};

/// A function that returns while a copy of a member's memory may be in flight.
struct LeftInFlight {
    std::string member;
    std::string record;
    Location location;
    std::string function;
    std::string function_record;
};

/// A class or struct and what the compiler will write for it.
struct RecordFact {
    std::string record;
    std::string name;
    Location location;
    bool is_class = false;  ///< has methods, so that its destructor is expected to clean up
    bool has_destructor = false;
    std::string destructor;
    bool copyable = false;
    bool unsure = false;  ///< its definition did not parse completely: what it declares may be missing
};

/// A function's place in the call graph.
struct FunctionFact {
    std::string function;
    std::string record;
    Location location;
    bool exported = true;
    bool is_public = true;
    std::vector<std::string> calls;
    std::vector<std::string> mentions;  ///< members it hands to calls, assigns from or takes the address of
    bool waits = false;                 ///< calls something that waits for the device
    std::vector<Location> releases;     ///< direct release calls, for functions that a stream calls
    std::vector<std::string> release_names;
};

/// A function handed to a stream, which will call it from a thread of the runtime.
struct CallbackFact {
    std::string function;
    Location location;
};

/// An object that is freed or deleted: from here on nobody can release what its members hold.
struct FreedRecord {
    std::string record;
    std::string function;
    Location location;
};

/// Memory of one member given back before the pin held by another member of the same object.
struct FreedBeforeRelease {
    std::string freed_member;
    std::string released_member;
    Location location;
    std::string function;
};

/// Where a member gets a value that is no pin.
struct MemberSource {
    std::string member;
    std::string kind;  ///< "null", "device-view", "pin", "allocated", "variable", "other"
};

struct FileFacts {
    std::string file;
    std::vector<PinnedMember> pinned;
    std::vector<ReleasedMember> released;
    std::vector<MissedRelease> missed;
    std::vector<FlagChange> flag_changes;
    std::vector<LeftInFlight> in_flight;
    std::vector<RecordFact> records;
    std::vector<FunctionFact> functions;
    std::vector<CallbackFact> callbacks;
    std::vector<FreedRecord> freed_records;
    std::vector<FreedBeforeRelease> freed_before_release;
    std::vector<MemberSource> sources;
    std::vector<Api> wrappers;       ///< functions of this file that act like a call of the table
    std::vector<Finding> tentative;  ///< findings that hold unless the joined facts say otherwise
};

void to_json(nlohmann::json& out, const FileFacts& facts);
void from_json(const nlohmann::json& in, FileFacts& facts);

}  // namespace pinwarden::scan
