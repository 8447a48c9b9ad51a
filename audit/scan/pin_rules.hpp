// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "path_log.hpp"

#include <clang/StaticAnalyzer/Core/PathSensitive/CallEvent.h>
#include <clang/StaticAnalyzer/Core/PathSensitive/CheckerContext.h>

/// The steps of the path-sensitive analysis, one group per file. Each takes the state before and gives back
/// the state after; null where nothing changes.
namespace pinwarden::scan {

using clang::ento::CallEvent;
using clang::ento::CheckerContext;

// pin_model.cpp: what pins, copies and waits do.
bool evaluate_call(PathLog& log, const CallEvent& call, CheckerContext& context);

/// The state once memory that an object of this path's own holds is reachable from outside.
ProgramStateRef make_outside(ProgramStateRef state, const MemRegion* memory);

/// True if an object on the stack or on the heap of this path holds `target`, and no class owns it.
bool is_inside(const MemRegion* target, const CheckerContext& context);

// release_rules.cpp: wrong-release, wrong-argument, double-release, freed-while-registered, and what a
// release does.
ProgramStateRef before_release(PathLog& log, ProgramStateRef state, const CallEvent& call,
                               CheckerContext& context);

// flight_rules.cpp: release-in-flight, reuse-in-flight.
ProgramStateRef queue_copy(ProgramStateRef state, const Api& api, const CallEvent& call,
                           CheckerContext& context);
ProgramStateRef before_wait(PathLog& log, ProgramStateRef state, const CallEvent& call,
                            CheckerContext& context);
ProgramStateRef check_flight_at_release(PathLog& log, ProgramStateRef state, const MemRegion* memory,
                                        const CallEvent& call, CheckerContext& context);
ProgramStateRef check_host_write(PathLog& log, ProgramStateRef state, const MemRegion* memory,
                                 const clang::Stmt& place, CheckerContext& context);
ProgramStateRef check_returned_to_pool(PathLog& log, ProgramStateRef state, SVal location, SVal value,
                                       const clang::Stmt* place, CheckerContext& context);

// throw_rules.cpp: leak-on-throw, and leaks by a throw of the function itself.
void check_may_throw(PathLog& log, const CallEvent& call, CheckerContext& context);
void check_throw(PathLog& log, const clang::CXXThrowExpr& statement, CheckerContext& context);

// unchecked_rule.cpp: unchecked-pin.

/// The pointer behind a load or a store: `p` of `p->x`, `p[i] = v` and `++*p`.
const clang::Expr* followed_pointer(const clang::Stmt* statement);
std::optional<UncheckedPin> unchecked_answer(const clang::CallExpr& call, const Api& api,
                                             CheckerContext& context);
ProgramStateRef overwrite_answer(ProgramStateRef state, const clang::VarDecl* answer);
ProgramStateRef look_at_answer(ProgramStateRef state, const clang::VarDecl* answer);
ProgramStateRef look_at_pointer(ProgramStateRef state, const clang::Stmt& condition);
ProgramStateRef check_use(PathLog& log, ProgramStateRef state, const clang::Expr* pointer,
                          CheckerContext& context);
ProgramStateRef check_call_uses(PathLog& log, ProgramStateRef state, const CallEvent& call,
                                CheckerContext& context);

// lost_pins.cpp: which pins nobody can reach any more.
ProgramStateRef note_overwritten(PathLog& log, ProgramStateRef state, const MemRegion* target, SVal value,
                                 const clang::Stmt* place);
ProgramStateRef collect_dead(ProgramStateRef state, clang::ento::SymbolReaper& reaper,
                             CheckerContext& context);
ProgramStateRef share_contents(ProgramStateRef state, const MemRegion* object, CheckerContext& context);
ProgramStateRef lose_contents(PathLog& log, ProgramStateRef state, const MemRegion* object,
                              CheckerContext& context);

// path_end.cpp: what is known at the end of a path.
void record_path_end(PathLog& log, const clang::ReturnStmt* statement, CheckerContext& context);

// exit_rules.cpp: leak, conditional-release and overwritten-pin, by comparing the ends of all paths.
void judge_path_ends(PathLog& log);

// member_facts.cpp: facts about members, from the ends of all paths.
void collect_member_facts(PathLog& log);

// wrapper_facts.cpp: functions that act like a call of the table.
void collect_wrapper(PathLog& log);

}  // namespace pinwarden::scan
