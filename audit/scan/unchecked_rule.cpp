// SPDX-License-Identifier: Apache-2.0
#include "pin_rules.hpp"
#include "source.hpp"

namespace pinwarden::scan {
namespace {

using namespace clang;
using namespace clang::ento;

const Decl* named_by(const Expr* expression)
{
    expression = plain(expression);
    if (const auto* name = dyn_cast_or_null<DeclRefExpr>(expression))
        return name->getDecl()->getCanonicalDecl();
    if (const auto* member = dyn_cast_or_null<MemberExpr>(expression))
        return member->getMemberDecl()->getCanonicalDecl();
    return nullptr;
}

bool mentions(const Stmt* where, const Decl* wanted)
{
    if (!where)
        return false;
    if (const auto* expression = dyn_cast<Expr>(where); expression && named_by(expression) == wanted)
        return true;
    for (const Stmt* child : where->children()) {
        if (mentions(child, wanted))
            return true;
    }
    return false;
}

bool is_statement_of_its_own(const Stmt* parent)
{
    return !parent ||
           isa<CompoundStmt, IfStmt, ForStmt, WhileStmt, DoStmt, CaseStmt, DefaultStmt, LabelStmt>(parent);
}

}  // namespace

const Expr* followed_pointer(const Stmt* statement)
{
    const auto* expression = dyn_cast_or_null<Expr>(statement);
    if (const auto* assignment = dyn_cast_or_null<BinaryOperator>(statement);
        assignment && assignment->isAssignmentOp())
        expression = assignment->getLHS();
    if (const auto* step = dyn_cast_or_null<UnaryOperator>(statement); step && step->isIncrementDecrementOp())
        expression = step->getSubExpr();
    for (expression = plain(expression); expression;) {
        if (const auto* subscript = dyn_cast<ArraySubscriptExpr>(expression))
            return subscript->getBase();
        if (const auto* member = dyn_cast<MemberExpr>(expression)) {
            if (member->isArrow())
                return member->getBase();
            expression = plain(member->getBase());
            continue;
        }
        const auto* unary = dyn_cast<UnaryOperator>(expression);
        return unary && unary->getOpcode() == UO_Deref ? unary->getSubExpr() : nullptr;
    }
    return nullptr;
}

std::optional<UncheckedPin> unchecked_answer(const CallExpr& call, const Api& api, CheckerContext& context)
{
    UncheckedPin out;
    const auto* address = dyn_cast_or_null<UnaryOperator>(plain(argument_of(call, api.argument)));
    if (!address || address->getOpcode() != UO_AddrOf)
        return std::nullopt;
    out.pointer = named_by(address->getSubExpr());
    if (!out.pointer)
        return std::nullopt;
    const ParentMap& parents = context.getLocationContext()->getParentMap();
    const Stmt* child = &call;
    for (const Stmt* at = parents.getParent(&call);; child = at, at = parents.getParent(at)) {
        if (is_statement_of_its_own(at)) {
            const auto* branch = dyn_cast_or_null<IfStmt>(at);
            const auto* loop = dyn_cast_or_null<WhileStmt>(at);
            if ((branch && branch->getCond() == child) || (loop && loop->getCond() == child))
                return std::nullopt;
            return out;
        }
        if (isa<ParenExpr, CastExpr, ExprWithCleanups>(at))
            continue;
        if (const auto* assignment = dyn_cast<BinaryOperator>(at)) {
            const auto* name = dyn_cast<DeclRefExpr>(plain(assignment->getLHS()));
            if (assignment->getOpcode() != BO_Assign || assignment->getRHS() != child || !name ||
                !is_statement_of_its_own(parents.getParentIgnoreParenImpCasts(const_cast<Stmt*>(at))))
                return std::nullopt;
            out.answer = dyn_cast<VarDecl>(name->getDecl());
            return out.answer && out.answer->hasLocalStorage() ? std::optional(out) : std::nullopt;
        }
        if (const auto* declaration = dyn_cast<DeclStmt>(at)) {
            out.answer =
                declaration->isSingleDecl() ? dyn_cast<VarDecl>(declaration->getSingleDecl()) : nullptr;
            return out.answer && out.answer->hasLocalStorage() ? std::optional(out) : std::nullopt;
        }
        return std::nullopt;
    }
}

ProgramStateRef overwrite_answer(ProgramStateRef state, const VarDecl* answer)
{
    for (const auto& [site, pin] : state->get<Unchecked>()) {
        if (pin.answer != answer)
            continue;
        UncheckedPin next = pin;
        if (pin.stored)
            next.answer = nullptr;
        next.stored = true;
        state = state->set<Unchecked>(site, next);
    }
    return state;
}

ProgramStateRef look_at_answer(ProgramStateRef state, const VarDecl* answer)
{
    for (const auto& [site, pin] : state->get<Unchecked>()) {
        if (answer && pin.answer == answer)
            state = state->remove<Unchecked>(site);
    }
    return state;
}

ProgramStateRef look_at_pointer(ProgramStateRef state, const Stmt& condition)
{
    for (const auto& [site, pin] : state->get<Unchecked>()) {
        if (mentions(&condition, pin.pointer))
            state = state->remove<Unchecked>(site);
    }
    return state;
}

ProgramStateRef check_use(PathLog& log, ProgramStateRef state, const Expr* pointer, CheckerContext& context)
{
    const Decl* name = named_by(pointer);
    if (!name)
        return state;
    for (const auto& [site, pin] : state->get<Unchecked>()) {
        if (pin.pointer != name || site->frame != context.getStackFrame())
            continue;
        log.report("unchecked-pin", Confidence::certain, *site->call,
                   "the result of '" + site->api->name + "' is never looked at, and the memory is used",
                   context.getPredecessor(), nullptr);
        state = state->remove<Unchecked>(site);
    }
    return state;
}

ProgramStateRef check_call_uses(PathLog& log, ProgramStateRef state, const CallEvent& call,
                                CheckerContext& context)
{
    if (state->get<Unchecked>().isEmpty())
        return state;
    const auto* function = dyn_cast_or_null<FunctionDecl>(call.getDecl());
    if (api_of_kind(log.apis(), function, ApiKind::query_error)) {
        for (const auto& [site, pin] : state->get<Unchecked>())
            state = state->remove<Unchecked>(site);
        return state;
    }
    if (pin_api(log.apis(), function))
        return state;
    const bool gives_back = api_of_kind(log.apis(), function, ApiKind::release) ||
                            api_of_kind(log.apis(), function, ApiKind::free_memory);
    const bool writes = api_of_kind(log.apis(), function, ApiKind::write) ||
                        api_of_kind(log.apis(), function, ApiKind::copy_async) ||
                        api_of_kind(log.apis(), function, ApiKind::sync_all);
    for (unsigned i = 0; i < call.getNumArgs(); ++i) {
        const Expr* argument = call.getArgExpr(i);
        const Decl* name = argument ? named_by(argument) : nullptr;
        if (!name)
            continue;
        if (writes) {
            state = check_use(log, state, argument, context);
            continue;
        }
        // A function of the project may look at the pointer itself; a release of it is no use.
        for (const auto& [site, pin] : state->get<Unchecked>()) {
            if (pin.pointer == name && !gives_back)
                state = state->remove<Unchecked>(site);
        }
    }
    return state;
}

}  // namespace pinwarden::scan
