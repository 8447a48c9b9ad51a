// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api_table.hpp"

#include <clang/StaticAnalyzer/Core/PathSensitive/ExplodedGraph.h>
#include <clang/StaticAnalyzer/Core/PathSensitive/MemRegion.h>
#include <clang/StaticAnalyzer/Core/PathSensitive/ProgramState.h>
#include <clang/StaticAnalyzer/Core/PathSensitive/ProgramStateTrait.h>

/// What the path-sensitive rules remember about a point on a path. A piece of memory is known by its region:
/// the region behind the pointer that a pin returned or was given.
namespace pinwarden::scan {

using clang::ento::ExplodedNode;
using clang::ento::MemRegion;
using clang::ento::ProgramStateRef;
using clang::ento::SVal;
using clang::ento::SymbolRef;

/// One pin call in one frame of the call stack. Interned: equal pointers, equal sites.
struct PinSite {
    const Api* api = nullptr;
    const clang::Stmt* call = nullptr;
    const clang::StackFrameContext* frame = nullptr;
    const MemRegion* target = nullptr;  ///< where the address or the handle was stored
    const MemRegion* memory = nullptr;  ///< the memory that is pinned
    SymbolRef length = nullptr;
    bool over_unknown = false;  ///< stored over what a member held when the function began
};

enum class PinStatus : unsigned {
    live,
    released,
    foreign  ///< the call answered that someone else had pinned this memory
};

struct PinState {
    PinStatus status = PinStatus::live;
    const PinSite* site = nullptr;        ///< null: pinned before the path began
    const clang::Stmt* change = nullptr;  ///< the release, or the assignment that took the last pointer
    bool outside = false;                 ///< someone beyond the function can reach it
    bool overwritten = false;

    bool operator==(const PinState&) const = default;
    void Profile(llvm::FoldingSetNodeID& id) const
    {
        id.AddInteger(static_cast<unsigned>(status));
        id.AddPointer(site);
        id.AddPointer(change);
        id.AddBoolean(outside);
        id.AddBoolean(overwritten);
    }
};

/// A copy that may still be under way.
struct Flight {
    const clang::Stmt* copy = nullptr;
    const clang::StackFrameContext* frame = nullptr;
    const void* stream = nullptr;  ///< the symbol or region of the stream, null if unknown
    const clang::Decl* stream_name = nullptr;
    const void* event = nullptr;  ///< the event recorded behind it, null if none
    const clang::Decl* event_name = nullptr;

    bool operator==(const Flight&) const = default;
    void Profile(llvm::FoldingSetNodeID& id) const
    {
        for (const void* part :
             {static_cast<const void*>(copy), static_cast<const void*>(frame), stream,
              static_cast<const void*>(stream_name), event, static_cast<const void*>(event_name)})
            id.AddPointer(part);
    }
};

/// A pin that failed on this path, and whose answer nobody has looked at so far.
struct UncheckedPin {
    const clang::VarDecl* answer = nullptr;  ///< the variable that holds the answer, null if it was dropped
    const clang::Decl* pointer = nullptr;    ///< the variable or member that should hold the address
    bool stored = false;                     ///< the answer has arrived in its variable

    bool operator==(const UncheckedPin&) const = default;
    void Profile(llvm::FoldingSetNodeID& id) const
    {
        id.AddPointer(answer);
        id.AddPointer(pointer);
        id.AddBoolean(stored);
    }
};

/// A pin that nobody can reach any more; reported if the path comes to its end.
struct LostPin {
    const PinSite* site = nullptr;
    const clang::StackFrameContext* frame = nullptr;
    bool overwritten = false;

    bool operator==(const LostPin&) const = default;
    bool operator<(const LostPin& other) const
    {
        return std::tie(site, frame, overwritten) < std::tie(other.site, other.frame, other.overwritten);
    }
    void Profile(llvm::FoldingSetNodeID& id) const
    {
        id.AddPointer(site);
        id.AddPointer(frame);
        id.AddBoolean(overwritten);
    }
};

struct Pins {};          // MemRegion -> PinState
struct Flights {};       // MemRegion -> Flight
struct FreedMemory {};   // MemRegion -> the call that gave it back
struct DeviceViews {};   // MemRegion of the device's address -> MemRegion of the host's memory
struct Unchecked {};     // PinSite -> UncheckedPin
struct FailedPins {};    // sites whose call has answered with an error
struct LostPins {};      // set of LostPin
struct StoredInside {};  // memory whose next escape is the store into an object of this function
struct SyncSeen {};      // true once something on the path may have waited for the device

using PinMap = llvm::ImmutableMap<const MemRegion*, PinState>;
using FlightMap = llvm::ImmutableMap<const MemRegion*, Flight>;
using FreedMap = llvm::ImmutableMap<const MemRegion*, const clang::Stmt*>;
using ViewMap = llvm::ImmutableMap<const MemRegion*, const MemRegion*>;
using UncheckedMap = llvm::ImmutableMap<const PinSite*, UncheckedPin>;
using LostSet = llvm::ImmutableSet<LostPin>;
using SiteSet = llvm::ImmutableSet<const PinSite*>;
using RegionSet = llvm::ImmutableSet<const MemRegion*>;

}  // namespace pinwarden::scan

#define PINWARDEN_PATH_TRAIT(Name, Type)                                                                     \
    template <>                                                                                              \
    struct clang::ento::ProgramStateTrait<pinwarden::scan::Name>                                             \
        : clang::ento::ProgramStatePartialTrait<Type> {                                                      \
        static void* GDMIndex()                                                                              \
        {                                                                                                    \
            static int index;                                                                                \
            return &index;                                                                                   \
        }                                                                                                    \
    }

PINWARDEN_PATH_TRAIT(Pins, pinwarden::scan::PinMap);
PINWARDEN_PATH_TRAIT(Flights, pinwarden::scan::FlightMap);
PINWARDEN_PATH_TRAIT(FreedMemory, pinwarden::scan::FreedMap);
PINWARDEN_PATH_TRAIT(DeviceViews, pinwarden::scan::ViewMap);
PINWARDEN_PATH_TRAIT(Unchecked, pinwarden::scan::UncheckedMap);
PINWARDEN_PATH_TRAIT(FailedPins, pinwarden::scan::SiteSet);
PINWARDEN_PATH_TRAIT(LostPins, pinwarden::scan::LostSet);
PINWARDEN_PATH_TRAIT(StoredInside, pinwarden::scan::RegionSet);
PINWARDEN_PATH_TRAIT(SyncSeen, bool);
