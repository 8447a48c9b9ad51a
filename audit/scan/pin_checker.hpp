// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "path_log.hpp"

#include <clang/StaticAnalyzer/Core/Checker.h>
#include <clang/StaticAnalyzer/Core/PathSensitive/CallEvent.h>
#include <clang/StaticAnalyzer/Core/PathSensitive/CheckerContext.h>

/// The checker that the analyzer's engine drives along every path. It only dispatches: what a call does to a
/// pin is modelled in `pin_model`, and each group of rules lives in a file of its own.
namespace pinwarden::scan {

class PinChecker
    : public clang::ento::Checker<clang::ento::eval::Call, clang::ento::check::PreCall,
                                  clang::ento::check::PostCall,
                                  clang::ento::check::PreStmt<clang::ReturnStmt>, clang::ento::check::Bind,
                                  clang::ento::check::Location, clang::ento::check::DeadSymbols,
                                  clang::ento::check::LiveSymbols, clang::ento::check::PointerEscape,
                                  clang::ento::check::BranchCondition, clang::ento::check::EndFunction> {
public:
    PathLog* log = nullptr;

    bool evalCall(const clang::ento::CallEvent& call, clang::ento::CheckerContext& context) const;
    void checkPreCall(const clang::ento::CallEvent& call, clang::ento::CheckerContext& context) const;
    void checkPostCall(const clang::ento::CallEvent& call, clang::ento::CheckerContext& context) const;
    void checkPreStmt(const clang::ReturnStmt* statement, clang::ento::CheckerContext& context) const;
    void checkBind(SVal location, SVal value, const clang::Stmt* statement,
                   clang::ento::CheckerContext& context) const;
    void checkLocation(SVal location, bool is_load, const clang::Stmt* statement,
                       clang::ento::CheckerContext& context) const;
    void checkDeadSymbols(clang::ento::SymbolReaper& reaper, clang::ento::CheckerContext& context) const;
    void checkLiveSymbols(ProgramStateRef state, clang::ento::SymbolReaper& reaper) const;
    ProgramStateRef checkPointerEscape(ProgramStateRef state, const clang::ento::InvalidatedSymbols& escaped,
                                       const clang::ento::CallEvent* call,
                                       clang::ento::PointerEscapeKind kind) const;
    void checkBranchCondition(const clang::Stmt* condition, clang::ento::CheckerContext& context) const;
    void checkEndFunction(const clang::ReturnStmt* statement, clang::ento::CheckerContext& context) const;
};

}  // namespace pinwarden::scan
