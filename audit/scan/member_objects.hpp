// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pin_state.hpp"

#include <clang/AST/DeclCXX.h>
#include <clang/StaticAnalyzer/Core/PathSensitive/SValBuilder.h>

#include <functional>
#include <vector>

/// The objects that outlive a function: its own object and those it was given, member by member.
namespace pinwarden::scan {

using MemberVisitor =
    std::function<void(const clang::FieldDecl& field, const clang::ento::FieldRegion& region)>;

/// Calls `visit` for every member of the objects that `this` and the parameters of the outermost function
/// point to, members of members and of base classes included.
void for_each_outer_member(const ProgramStateRef& state, const clang::LocationContext* frame,
                           clang::ento::SValBuilder& values, const MemberVisitor& visit);

}  // namespace pinwarden::scan
