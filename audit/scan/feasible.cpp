// SPDX-License-Identifier: Apache-2.0
#include "feasible.hpp"

#include "source.hpp"

#include <clang/AST/ExprCXX.h>

#include <algorithm>
#include <map>
#include <set>

namespace pinwarden::scan {
namespace {

using namespace clang;

const ValueDecl* named(const Expr* expression)
{
    expression = plain(expression);
    if (const auto* name = dyn_cast_or_null<DeclRefExpr>(expression))
        return name->getDecl();
    if (const auto* member = dyn_cast_or_null<MemberExpr>(expression))
        return member->getMemberDecl();
    return nullptr;
}

void collect_changed(const Stmt* where, std::set<const ValueDecl*>& out)
{
    if (!where)
        return;
    if (const auto* assignment = dyn_cast<BinaryOperator>(where); assignment && assignment->isAssignmentOp())
        out.insert(named(assignment->getLHS()));
    const auto* unary = dyn_cast<UnaryOperator>(where);
    if (unary && (unary->isIncrementDecrementOp() || unary->getOpcode() == UO_AddrOf))
        out.insert(named(unary->getSubExpr()));
    for (const Stmt* child : where->children())
        collect_changed(child, out);
}

/// True for a condition that asks only flags which nobody on the path is seen to change.
bool asks_only_flags(const Stmt* where, const std::set<const ValueDecl*>& changed)
{
    if (!where)
        return true;
    if (isa<CallExpr, CXXConstructExpr, ArraySubscriptExpr, LambdaExpr>(where))
        return false;
    if (const auto* unary = dyn_cast<UnaryOperator>(where);
        unary && (unary->isIncrementDecrementOp() || unary->getOpcode() == UO_Deref))
        return false;
    if (const auto* expression = dyn_cast<Expr>(where)) {
        const ValueDecl* name = named(expression);
        const auto* variable = dyn_cast_or_null<VarDecl>(name);
        const bool local = variable && variable->hasLocalStorage() && !isa<ParmVarDecl>(variable);
        // What a call has answered is another value in each round of a loop, and under each use of a macro.
        const bool fixed = local && variable->getType().isConstQualified() && variable->getInit() &&
                           asks_only_flags(variable->getInit(), changed);
        if (local && !fixed && !variable->getType()->isPointerType())
            return false;
        if (name && (changed.contains(name) || (isa<FieldDecl>(name) && name->getType()->isPointerType())))
            return false;
    }
    const auto children = where->children();
    return std::all_of(children.begin(), children.end(),
                       [&](const Stmt* child) { return asks_only_flags(child, changed); });
}

bool releases_variable(const PathLog& log, const Stmt* where, const VarDecl* variable)
{
    if (!where)
        return false;
    if (const auto* call = dyn_cast<CallExpr>(where)) {
        const Api* api = api_of_kind(log.apis(), call->getDirectCallee(), ApiKind::release);
        if (api && named(argument_of(*call, api->argument)) == variable)
            return true;
    }
    const auto children = where->children();
    return std::any_of(children.begin(), children.end(),
                       [&](const Stmt* child) { return releases_variable(log, child, variable); });
}

bool has_releasing_lambda(const PathLog& log, const Stmt* where, const VarDecl* variable)
{
    if (!where)
        return false;
    if (const auto* lambda = dyn_cast<LambdaExpr>(where))
        return releases_variable(log, lambda->getBody(), variable);
    const auto children = where->children();
    return std::any_of(children.begin(), children.end(),
                       [&](const Stmt* child) { return has_releasing_lambda(log, child, variable); });
}

}  // namespace

bool is_feasible(const PathLog& log, const std::vector<PathDecision>& decisions)
{
    if (decisions.size() < 2)
        return true;
    std::set<const ValueDecl*> changed;
    std::set<const Stmt*> bodies;
    std::map<std::string, bool> outcome;
    for (const PathDecision& decision : decisions) {
        const auto* function = dyn_cast<FunctionDecl>(decision.frame->getDecl());
        if (function && function->getBody() && bodies.insert(function->getBody()).second)
            collect_changed(function->getBody(), changed);
    }
    for (const PathDecision& decision : decisions) {
        if (decision.in_loop || !asks_only_flags(decision.condition, changed))
            continue;
        const auto [known, is_new] = outcome.emplace(text_of(*decision.condition, log.ast()), decision.taken);
        if (!is_new && known->second != decision.taken)
            return false;
    }
    return true;
}

bool released_by_lambda(const PathLog& log, const PinSite& site)
{
    const auto* call = dyn_cast<CallExpr>(site.call);
    const Expr* argument = plain(call ? argument_of(*call, std::max(site.api->argument, 0)) : nullptr);
    if (const auto* address = dyn_cast_or_null<UnaryOperator>(argument);
        address && address->getOpcode() == UO_AddrOf)
        argument = plain(address->getSubExpr());
    const auto* variable = dyn_cast_or_null<VarDecl>(named(argument));
    const auto* owner = dyn_cast<FunctionDecl>(site.frame->getDecl());
    return variable && owner && has_releasing_lambda(log, owner->getBody(), variable);
}

}  // namespace pinwarden::scan
