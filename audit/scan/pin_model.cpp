// SPDX-License-Identifier: Apache-2.0
#include "pin_rules.hpp"
#include "source.hpp"

#include <clang/StaticAnalyzer/Core/PathSensitive/SValBuilder.h>

#include <cctype>

namespace pinwarden::scan {
namespace {

using namespace clang;
using namespace clang::ento;

/// The call under evaluation with everything its model needs at hand.
struct Step {
    PathLog& log;
    const CallEvent& call;
    CheckerContext& context;
    const CallExpr& expression;

    ProgramStateRef state() const { return context.getState(); }
    SValBuilder& values() const { return context.getSValBuilder(); }
    const LocationContext* frame() const { return context.getLocationContext(); }
    QualType type() const { return expression.getType(); }

    SVal argument(int index) const
    {
        if (index < 0 || static_cast<unsigned>(index) >= call.getNumArgs())
            return UnknownVal();
        return call.getArgSVal(static_cast<unsigned>(index));
    }

    SVal fresh(QualType of, const void* tag = nullptr) const
    {
        return values().conjureSymbolVal(tag, &expression, frame(), of, context.blockCount());
    }

    SVal fresh_memory() const
    {
        return values().getConjuredHeapSymbolVal(&expression, frame(), context.getASTContext().VoidPtrTy,
                                                 context.blockCount());
    }
};

ProgramStateRef answer(const Step& step, ProgramStateRef state, bool worked, Success success)
{
    if (step.type()->isVoidType())
        return worked ? state : nullptr;
    const bool zero_wanted = (success == Success::zero) == worked;
    if (success == Success::always)
        return worked ? state->BindExpr(&step.expression, step.frame(), step.fresh(step.type())) : nullptr;
    if (!step.type()->isIntegralOrEnumerationType() && !step.type()->isAnyPointerType())
        return state->BindExpr(&step.expression, step.frame(), UnknownVal());
    if (zero_wanted)
        return state->BindExpr(&step.expression, step.frame(), step.values().makeZeroVal(step.type()));
    if (step.type()->isBooleanType())
        return state->BindExpr(&step.expression, step.frame(), step.values().makeTruthVal(true, step.type()));
    const auto value = step.fresh(step.type()).getAs<DefinedSVal>();
    if (!value)
        return nullptr;
    return state->BindExpr(&step.expression, step.frame(), *value)->assume(*value, true);
}

bool pins_at_all(const Step& step, const Api& api)
{
    if (api.flag_mask == 0)
        return true;
    const llvm::APSInt* flags = step.argument(api.flag_argument).getAsInteger();
    return flags && (flags->getZExtValue() & api.flag_mask) != 0;
}

void add_failure(const Step& step, const Api& api, const PinSite* site)
{
    ProgramStateRef failed = answer(step, step.state(), false, api.success);
    if (!failed)
        return;
    failed = failed->add<FailedPins>(site);
    if (api.kind == ApiKind::pin_out) {
        if (const std::optional<UncheckedPin> ignored = unchecked_answer(step.expression, api, step.context))
            failed = failed->set<Unchecked>(site, *ignored);
    }
    if (api.kind == ApiKind::pin_argument && api.foreign_code != 0) {
        // The one answer that some callers take for success: it gets a path of its own.
        const SVal code = failed->getSVal(&step.expression, step.frame());
        const auto known = code.getAs<DefinedOrUnknownSVal>();
        const MemRegion* memory = memory_of(step.argument(api.argument));
        if (known && memory && step.type()->isIntegralOrEnumerationType()) {
            const SVal foreign =
                step.values().makeIntVal(static_cast<uint64_t>(api.foreign_code), step.type());
            const auto same = step.values()
                                  .evalEQ(failed, *known, foreign.castAs<DefinedOrUnknownSVal>())
                                  .getAs<DefinedOrUnknownSVal>();
            if (same) {
                const auto [is_foreign, is_other] = failed->assume(*same);
                if (is_foreign) {
                    PinState theirs;
                    theirs.status = PinStatus::foreign;
                    theirs.site = site;
                    theirs.outside = true;
                    step.context.addTransition(is_foreign->set<Pins>(memory, theirs));
                }
                if (is_other)
                    step.context.addTransition(is_other);
                return;
            }
        }
    }
    step.context.addTransition(failed);
}

/// True if the place is a member that still has, or may have, the pointer it had when the function began.
bool covers_unknown(const ProgramStateRef& state, const MemRegion* target)
{
    const auto* member = dyn_cast_or_null<FieldRegion>(target);
    const MemRegion* held = member ? memory_of(state->getSVal(member)) : nullptr;
    const auto* symbolic = dyn_cast_or_null<SymbolicRegion>(held);
    const auto* value = symbolic ? dyn_cast<SymbolRegionValue>(symbolic->getSymbol()) : nullptr;
    if (!value || value->getRegion() != member)
        return false;
    const PinState* pin = state->get<Pins>(held);
    return !(pin && pin->status == PinStatus::released) && truth_of(state, state->getSVal(member)) != false;
}

bool evaluate_pin_out(const Step& step, const Api& api)
{
    const auto target = step.argument(api.argument).getAs<Loc>();
    if (!target)
        return false;
    const MemRegion* place = target->getAsRegion();
    const auto memory = step.fresh_memory().getAs<DefinedSVal>();
    if (!memory)
        return false;
    const MemRegion* region = memory_of(*memory);
    PinSite site{&api,
                 &step.expression,
                 step.frame()->getStackFrame(),
                 place ? place->StripCasts() : nullptr,
                 region,
                 step.argument(api.size_argument).getAsSymbol()};
    site.over_unknown = covers_unknown(step.state(), site.target);
    const PinSite* interned = step.log.intern(site);

    ProgramStateRef pinned = note_overwritten(step.log, step.state(), site.target, *memory, &step.expression);
    pinned = pinned->bindLoc(*target, *memory, step.frame());
    pinned = answer(step, pinned, true, api.success);
    if (pinned)
        pinned = pinned->assume(*memory, true);
    if (pinned) {
        PinState state;
        state.site = interned;
        state.outside = !place || !is_inside(place, step.context);
        step.context.addTransition(pinned->set<Pins>(region, state));
    }
    add_failure(step, api, interned);
    return true;
}

bool evaluate_pin_return(const Step& step, const Api& api)
{
    const auto memory = step.fresh_memory().getAs<DefinedSVal>();
    if (!memory || !pins_at_all(step, api) || !step.type()->isAnyPointerType())
        return false;
    const MemRegion* region = memory_of(*memory);
    const MemRegion* covered = api.memory_argument < 0 ? region : memory_of(step.argument(api.memory_argument));
    const SymbolRef length = covered == region ? step.argument(api.size_argument).getAsSymbol() : nullptr;
    const PinSite* site = step.log.intern(
        {&api, &step.expression, step.frame()->getStackFrame(), nullptr, covered, length});
    ProgramStateRef pinned =
        step.state()->BindExpr(&step.expression, step.frame(), *memory)->assume(*memory, true);
    SVal failure = step.values().makeZeroVal(step.type());
    if (api.success == Success::not_minus_one) {
        const auto width = static_cast<unsigned>(step.context.getASTContext().getTypeSize(step.type()));
        failure = loc::ConcreteInt(step.values().getBasicValueFactory().getValue(llvm::APInt::getAllOnes(width), true));
    }
    if (pinned && api.success == Success::not_minus_one) {
        const QualType truth = step.values().getConditionType();
        const SVal worked = step.values().evalBinOp(pinned, BO_NE, *memory, failure, truth);
        pinned = pinned->assume(worked.castAs<DefinedOrUnknownSVal>(), true);
    }
    if (pinned)
        step.context.addTransition(pinned->set<Pins>(region, PinState{PinStatus::live, site}));
    step.context.addTransition(
        step.state()->BindExpr(&step.expression, step.frame(), failure)->add<FailedPins>(site));
    return true;
}

bool evaluate_pin_argument(const Step& step, const Api& api)
{
    const SVal pointer = step.argument(api.argument);
    const MemRegion* memory = memory_of(pointer);
    if (!memory)
        return false;
    const PinSite* site = step.log.intern({&api, &step.expression, step.frame()->getStackFrame(), nullptr,
                                           memory, step.argument(api.size_argument).getAsSymbol()});
    const PinState* before = step.state()->get<Pins>(memory);
    if (before && before->status == PinStatus::live && before->site &&
        ApiTable::compatible(before->site->api->family, api.family) &&
        before->site->call != &step.expression) {
        step.log.report("double-pin", Confidence::certain, step.expression,
                        "'" + api.name +
                            "' pins memory that is pinned already; pins of this kind do not nest",
                        step.context.getPredecessor(), memory);
        step.log.settled.insert(site);
        return false;
    }
    ProgramStateRef pinned = answer(step, step.state(), true, api.success);
    if (const auto address = pointer.getAs<DefinedSVal>(); pinned && address)
        pinned = pinned->assume(*address, true);
    if (pinned) {
        PinState state;
        state.site = site;
        // Memory that comes from elsewhere stays reachable for whoever owns it.
        const auto* symbolic = dyn_cast<SymbolicRegion>(memory->getBaseRegion());
        const bool own = (symbolic && isa<HeapSpaceRegion>(symbolic->getMemorySpace())) ||
                         isa<StackLocalsSpaceRegion>(memory->getMemorySpace());
        state.outside = !own || (before && before->outside);
        step.context.addTransition(pinned->set<Pins>(memory, state));
    }
    add_failure(step, api, site);
    return true;
}

bool is_dropped(const Step& step)
{
    const ParentMap& parents = step.frame()->getParentMap();
    const Stmt* at = &step.expression;
    for (const Stmt* up = parents.getParent(at); up; at = up, up = parents.getParent(up)) {
        if (isa<ParenExpr, ExprWithCleanups, CXXBindTemporaryExpr>(up))
            continue;
        if (const auto* cast = dyn_cast<CastExpr>(up))
            return cast->getCastKind() == CK_ToVoid;
        return isa<CompoundStmt, CaseStmt, LabelStmt>(up);
    }
    return true;
}

bool evaluate_copy(const Step& step, const Api& api)
{
    ProgramStateRef queued = answer(step, step.state(), true, Success::zero);
    if (queued)
        queued = queue_copy(queued, api, step.call, step.context);
    if (queued)
        step.context.addTransition(queued);
    if (is_dropped(step))
        return true;
    if (ProgramStateRef refused = answer(step, step.state(), false, Success::zero))
        step.context.addTransition(refused);
    return true;
}

bool evaluate_device_view(const Step& step, const Api& api)
{
    const auto target = step.argument(api.argument).getAs<Loc>();
    const MemRegion* host = memory_of(step.argument(api.memory_argument));
    if (!target)
        return false;
    const auto* typed = dyn_cast_or_null<TypedValueRegion>(target->getAsRegion());
    const QualType type =
        typed && typed->getValueType()->isPointerType() ? typed->getValueType() : QualType();
    ProgramStateRef worked = step.state();
    if (!type.isNull()) {
        const SVal view = step.fresh(type, &api);
        worked = worked->bindLoc(*target, view, step.frame());
        const MemRegion* region = memory_of(view);
        if (region && host)
            worked = worked->set<DeviceViews>(region, host);
    }
    if (ProgramStateRef done = answer(step, worked, true, Success::zero))
        step.context.addTransition(done);
    if (is_dropped(step))
        return true;
    if (ProgramStateRef failed = answer(step, step.state(), false, Success::zero))
        step.context.addTransition(failed);
    return true;
}

bool evaluate_allocation(const Step& step)
{
    if (!step.type()->isAnyPointerType())
        return false;
    const SVal memory = step.fresh_memory();
    ProgramStateRef state = step.state()->BindExpr(&step.expression, step.frame(), memory);
    const auto* function = dyn_cast_or_null<FunctionDecl>(step.call.getDecl());
    if (function && function->getName() == "calloc") {
        if (const auto place = memory.getAs<Loc>())
            state = state->bindDefaultZero(*place, step.frame());
    }
    step.context.addTransition(state);
    return true;
}

/// A runtime or library function that keeps nothing and changes only what its pointers name directly. The
/// engine alone would forget whole objects when it sees the address of one member.
bool is_leaf(const FunctionDecl& function, const CheckerContext& context)
{
    if (function.isNoReturn() || function.hasBody() || !function.getIdentifier())
        return false;
    const StringRef name = function.getName();
    const bool gpu =
        name.starts_with("cuda") || name.starts_with("hip") || name.starts_with("ibv_") ||
        (name.starts_with("cu") && name.size() > 2 && std::isupper(static_cast<unsigned char>(name[2])) != 0);
    const SourceManager& sources = context.getASTContext().getSourceManager();
    const bool library = function.isExternC() && sources.isInSystemHeader(function.getLocation());
    if (!gpu && !library)
        return false;
    for (const ParmVarDecl* parameter : function.parameters()) {
        if (parameter->getType()->isFunctionPointerType())
            return false;
    }
    return !name.contains("thread_create");
}

bool evaluate_leaf(const Step& step)
{
    RegionAndSymbolInvalidationTraits traits;
    SmallVector<SVal, 4> changed;
    for (unsigned i = 0; i < step.call.getNumArgs(); ++i) {
        const Expr* argument = step.call.getArgExpr(i);
        const QualType pointee = argument ? argument->getType()->getPointeeType() : QualType();
        const MemRegion* region = step.call.getArgSVal(i).getAsRegion();
        if (!region || pointee.isNull() || pointee.isConstQualified())
            continue;
        region = region->StripCasts();
        traits.setTrait(region, RegionAndSymbolInvalidationTraits::TK_DoNotInvalidateSuperRegion);
        traits.setTrait(region, RegionAndSymbolInvalidationTraits::TK_SuppressEscape);
        changed.push_back(loc::MemRegionVal(region));
    }
    ProgramStateRef state = step.state();
    // A copy of bytes may carry pointers along.
    for (unsigned i = 0; i < step.call.getNumArgs(); ++i)
        state = share_contents(state, step.call.getArgSVal(i).getAsRegion(), step.context);
    if (!changed.empty())
        state = state->invalidateRegions(changed, &step.expression, step.context.blockCount(), step.frame(),
                                         /*CausesPointerEscape=*/false, nullptr, nullptr, &traits);
    if (!step.type()->isVoidType() && !step.type()->isRecordType())
        state = state->BindExpr(&step.expression, step.frame(), step.fresh(step.type()));
    step.context.addTransition(state);
    return true;
}

}  // namespace

bool is_inside(const MemRegion* target, const CheckerContext& context)
{
    const MemRegion* base = target->getBaseRegion();
    const MemSpaceRegion* space = base->getMemorySpace();
    if (!isa<StackSpaceRegion, HeapSpaceRegion>(space))
        return false;
    for (const LocationContext* at = context.getLocationContext(); at; at = at->getParent()) {
        const auto* method = dyn_cast<CXXMethodDecl>(at->getDecl());
        if (!method || method->isStatic() || !method->getThisType()->isPointerType())
            continue;
        const Loc self =
            const_cast<CheckerContext&>(context).getSValBuilder().getCXXThis(method, at->getStackFrame());
        const MemRegion* object = context.getState()->getSVal(self).getAsRegion();
        if (object && (target == object || target->isSubRegionOf(object)))
            return false;
    }
    return true;
}

ProgramStateRef make_outside(ProgramStateRef state, const MemRegion* memory)
{
    const PinState* pin = state->get<Pins>(memory);
    if (!pin || pin->outside)
        return state;
    PinState outside = *pin;
    outside.outside = true;
    return state->set<Pins>(memory, outside);
}

bool evaluate_call(PathLog& log, const CallEvent& call, CheckerContext& context)
{
    const auto* expression = dyn_cast_or_null<CallExpr>(call.getOriginExpr());
    const auto* function = dyn_cast_or_null<FunctionDecl>(call.getDecl());
    if (!expression || !function)
        return false;
    const Step step{log, call, context, *expression};
    for (const Api& api : apis_of(log.apis(), function)) {
        if (api.wrapper && function->hasBody())
            continue;
        bool done = false;
        switch (api.kind) {
        case ApiKind::pin_out: done = evaluate_pin_out(step, api); break;
        case ApiKind::pin_return: done = evaluate_pin_return(step, api); break;
        case ApiKind::pin_argument: done = evaluate_pin_argument(step, api); break;
        case ApiKind::copy_async: done = evaluate_copy(step, api); break;
        case ApiKind::device_view: done = evaluate_device_view(step, api); break;
        case ApiKind::allocate: done = evaluate_allocation(step); break;
        default: break;
        }
        if (done)
            return true;
    }
    return is_leaf(*function, context) && evaluate_leaf(step);
}

}  // namespace pinwarden::scan
