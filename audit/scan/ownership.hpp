// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "path_log.hpp"

#include <clang/StaticAnalyzer/Core/PathSensitive/CallEvent.h>
#include <clang/StaticAnalyzer/Core/PathSensitive/CheckerContext.h>

/// Who owns a pin after a call that cannot be looked into. Functions borrow, unless something speaks for a
/// transfer.
namespace pinwarden::scan {

/// True if the function keeps no pointer and waits for nothing: the C library, the device's runtime, kernels.
bool keeps_nothing(const clang::FunctionDecl& function, const clang::ento::CheckerContext& context);

/// True if a call that is given the pinned memory leaves the pin with its caller.
bool borrows(const PathLog& log, const clang::ento::CallEvent& call, const PinState& pin, SymbolRef memory);

/// Memory whose pin a call of the standard library's C++ part takes over: smart pointers, containers of
/// pointers, threads. Their inside is not worth following.
std::vector<const MemRegion*> taken_by_library(const clang::ento::CallEvent& call,
                                               const ProgramStateRef& state);

/// The tracked memory that can be reached through a value.
std::vector<const MemRegion*> reachable_pins(const ProgramStateRef& state, SVal value);

}  // namespace pinwarden::scan
