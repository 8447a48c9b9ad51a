// SPDX-License-Identifier: Apache-2.0
#include "pin_checker.hpp"

#include "ownership.hpp"
#include "pin_rules.hpp"
#include "source.hpp"

namespace pinwarden::scan {

using namespace clang;
using namespace clang::ento;

namespace {

void advance(ProgramStateRef next, CheckerContext& context)
{
    if (next && next != context.getState())
        context.addTransition(next);
}

bool is_loop_condition(const Stmt* condition, const LocationContext* frame)
{
    const ParentMap& parents = frame->getParentMap();
    const Stmt* child = condition;
    for (const Stmt* at = parents.getParent(condition); at; child = at, at = parents.getParent(at)) {
        if (const auto* loop = dyn_cast<ForStmt>(at))
            return loop->getCond() == child;
        if (const auto* loop = dyn_cast<WhileStmt>(at))
            return loop->getCond() == child;
        if (const auto* loop = dyn_cast<DoStmt>(at))
            return loop->getCond() == child;
        if (const auto* loop = dyn_cast<CXXForRangeStmt>(at))
            return loop->getCond() == child;
        if (!isa<Expr>(at))
            return false;
    }
    return false;
}

/// The throw whose operand the call computes, or null. The engine itself tells nobody about throws.
const CXXThrowExpr* thrown_by(const Expr* call, const LocationContext* frame)
{
    const ParentMap& parents = frame->getParentMap();
    for (const Stmt* at = call; at && isa<Expr>(at); at = parents.getParent(at)) {
        if (const auto* thrown = dyn_cast<CXXThrowExpr>(at))
            return thrown;
    }
    return nullptr;
}

bool counts_far(const Expr* condition, const CheckerContext& context)
{
    constexpr std::int64_t few = 8;
    const auto* comparison = dyn_cast<BinaryOperator>(condition->IgnoreParenImpCasts());
    if (!comparison || !comparison->isRelationalOp())
        return false;
    // Where one side is open, the number of rounds is too.
    const llvm::APSInt* left = context.getSVal(comparison->getLHS()).getAsInteger();
    const llvm::APSInt* right = context.getSVal(comparison->getRHS()).getAsInteger();
    const auto far = [](const llvm::APSInt& value) {
        return value.getSignificantBits() <= 64 && value.getExtValue() >= few;
    };
    return left && right && (far(*left) || far(*right));
}

/// A loop with a constant number of rounds would use up the engine's patience before its end. After the first
/// round nothing new happens, so such a loop ends there; all of them alike, so that what one round pins
/// another releases.
ProgramStateRef end_long_loop(ProgramStateRef state, const Stmt* condition, CheckerContext& context)
{
    const auto* expression = dyn_cast<Expr>(condition);
    const unsigned most = context.getAnalysisManager().options.maxBlockVisitOnPath;
    if (!expression || context.blockCount() < 2 || expression->getType()->isRecordType() ||
        isa<IntegerLiteral, CXXBoolLiteralExpr>(expression->IgnoreParenImpCasts()) ||
        !is_loop_condition(condition, context.getLocationContext()))
        return state;
    if (context.blockCount() < most && !counts_far(expression, context))
        return state;
    if (truth_of(state, context.getSVal(condition)) != true)
        return state;
    const SVal ended = context.getSValBuilder().makeTruthVal(false, expression->getType());
    return state->BindExpr(expression, context.getLocationContext(), ended);
}

/// Objects that an unknown function is given by value take the pins in them along. The engine tells nobody of that.
ProgramStateRef hand_over_objects(const PathLog& log, ProgramStateRef state, const CallEvent& call)
{
    const auto* function = dyn_cast_or_null<FunctionDecl>(call.getDecl());
    if (!function || function->hasBody() || isa<CXXConstructorCall>(call))
        return state;
    for (unsigned i = 0; i < call.getNumArgs(); ++i) {
        const Expr* argument = call.getArgExpr(i);
        if (!argument || argument->isGLValue() || !argument->getType()->isRecordType())
            continue;
        for (const MemRegion* memory : reachable_pins(state, call.getArgSVal(i))) {
            const PinState* pin = state->get<Pins>(memory);
            const auto* symbolic = dyn_cast<SymbolicRegion>(memory->getBaseRegion());
            if (pin && symbolic && pin->status == PinStatus::live &&
                !borrows(log, call, *pin, symbolic->getSymbol()))
                state = state->remove<Pins>(memory);
        }
    }
    return state;
}

}  // namespace

bool PinChecker::evalCall(const CallEvent& call, CheckerContext& context) const
{
    return evaluate_call(*log, call, context);
}

void PinChecker::checkPreCall(const CallEvent& call, CheckerContext& context) const
{
    check_may_throw(*log, call, context);
    ProgramStateRef state = context.getState();
    if (ProgramStateRef next = before_wait(*log, state, call, context))
        state = next;
    state = check_call_uses(*log, state, call, context);
    if (!state->get<Pins>().isEmpty()) {
        for (const MemRegion* memory : taken_by_library(call, state))
            state = make_outside(state, memory);
        state = hand_over_objects(*log, state, call);
    }
    advance(before_release(*log, state, call, context), context);
}

void PinChecker::checkPostCall(const CallEvent& call, CheckerContext& context) const
{
    const auto* function = dyn_cast_or_null<FunctionDecl>(call.getDecl());
    const bool known =
        function && (!apis_of(log->apis(), function).empty() || keeps_nothing(*function, context));
    ProgramStateRef state = context.getState();
    if (const CXXThrowExpr* thrown = thrown_by(call.getOriginExpr(), context.getLocationContext()))
        check_throw(*log, *thrown, context);
    if (context.wasInlined || known || isa<CXXAllocatorCall, CXXDeallocatorCall>(call))
        return;
    // A function nobody can look into may have waited for the device.
    for (const auto& [memory, flight] : state->get<Flights>())
        state = state->remove<Flights>(memory);
    if (!state->get<SyncSeen>())
        state = state->set<SyncSeen>(true);
    advance(state, context);
}

void PinChecker::checkPreStmt(const ReturnStmt* statement, CheckerContext& context) const
{
    const Expr* value = statement->getRetValue();
    if (!value || !context.inTopFrame())
        return;
    ProgramStateRef state = context.getState();
    const SVal returned = context.getSVal(value);
    for (const MemRegion* memory : reachable_pins(state, returned))
        state = make_outside(state, memory);
    advance(state, context);
}

void PinChecker::checkBind(SVal location, SVal value, const Stmt* statement, CheckerContext& context) const
{
    ProgramStateRef state = context.getState();
    const MemRegion* target = location.getAsRegion();
    if (const auto* variable = dyn_cast_or_null<VarRegion>(target))
        state = overwrite_answer(state, variable->getDecl());
    state = check_returned_to_pool(*log, state, location, value, statement, context);
    if (target && !state->get<Pins>().isEmpty()) {
        state = note_overwritten(*log, state, target, value, statement);
        const MemRegion* memory = memory_of(value);
        if (memory && state->get<Pins>(memory)) {
            if (is_inside(target, context)) {
                if (!target->hasStackStorage())
                    state = state->add<StoredInside>(memory);
            } else {
                state = make_outside(state, memory);
            }
        }
    }
    advance(state, context);
}

void PinChecker::checkLocation(SVal location, bool is_load, const Stmt* statement,
                               CheckerContext& context) const
{
    ProgramStateRef state = context.getState();
    const MemRegion* region = location.getAsRegion();
    if (!state->get<Unchecked>().isEmpty()) {
        const auto* variable = dyn_cast_or_null<VarRegion>(region);
        if (is_load && variable)
            state = look_at_answer(state, variable->getDecl());
        if (const Expr* pointer = followed_pointer(statement))
            state = check_use(*log, state, pointer, context);
    }
    if (!is_load && region && statement)
        state = check_host_write(*log, state, region, *statement, context);
    advance(state, context);
}

void PinChecker::checkDeadSymbols(SymbolReaper& reaper, CheckerContext& context) const
{
    advance(collect_dead(context.getState(), reaper, context), context);
}

void PinChecker::checkLiveSymbols(ProgramStateRef state, SymbolReaper& reaper) const
{
    // The objects a function was given stay interesting to its end: rules compare their members there.
    const StackFrameContext* top = log->frame();
    const FunctionDecl* function = &log->function();
    if (const auto* method = dyn_cast<CXXMethodDecl>(function); method && !method->isStatic()) {
        const Loc self = state->getStateManager().getSValBuilder().getCXXThis(method, top);
        if (const MemRegion* region = state->getSVal(self).getAsRegion())
            reaper.markLive(region->getBaseRegion());
    }
    for (const ParmVarDecl* parameter : function->parameters()) {
        if (!parameter->getType()->isPointerType() && !parameter->getType()->isReferenceType())
            continue;
        const SVal value = state->getSVal(state->getRegion(parameter, top));
        if (const MemRegion* region = value.getAsRegion())
            reaper.markLive(region->getBaseRegion());
        if (const SymbolRef symbol = value.getAsSymbol(true))
            reaper.markLive(symbol);
    }
    for (const auto& [memory, pin] : state->get<Pins>()) {
        if (pin.outside || pin.status != PinStatus::live)
            reaper.markLive(memory->getBaseRegion());
        const auto* symbolic = dyn_cast<SymbolicRegion>(memory->getBaseRegion());
        if (symbolic && (pin.outside || pin.status != PinStatus::live))
            reaper.markLive(symbolic->getSymbol());
    }
    for (const auto& [memory, flight] : state->get<Flights>()) {
        if (const auto* symbolic = dyn_cast<SymbolicRegion>(memory))
            reaper.markLive(symbolic->getSymbol());
    }
}

ProgramStateRef PinChecker::checkPointerEscape(ProgramStateRef state, const InvalidatedSymbols& escaped,
                                               const CallEvent* call, PointerEscapeKind kind) const
{
    // What a call stores through its arguments is in the model of the call already.
    if (kind == PSK_EscapeOutParameters)
        return state;
    for (const auto& [memory, pin] : state->get<Pins>()) {
        const auto* symbolic = dyn_cast<SymbolicRegion>(memory->getBaseRegion());
        if (!symbolic || !escaped.contains(symbolic->getSymbol()) || pin.status != PinStatus::live)
            continue;
        if (kind == PSK_EscapeOnBind) {
            if (state->contains<StoredInside>(memory))
                state = state->remove<StoredInside>(memory);
            else
                state = make_outside(state, memory);
        } else if (kind == PSK_DirectEscapeOnCall && call) {
            if (!borrows(*log, *call, pin, symbolic->getSymbol()))
                state = state->remove<Pins>(memory);
        } else {
            state = state->remove<Pins>(memory);
        }
    }
    return state;
}

void PinChecker::checkBranchCondition(const Stmt* condition, CheckerContext& context) const
{
    ProgramStateRef state = context.getState();
    if (!state->get<Unchecked>().isEmpty())
        state = look_at_pointer(state, *condition);
    advance(end_long_loop(state, condition, context), context);
}

void PinChecker::checkEndFunction(const ReturnStmt* statement, CheckerContext& context) const
{
    if (context.inTopFrame())
        record_path_end(*log, statement, context);
}

}  // namespace pinwarden::scan
