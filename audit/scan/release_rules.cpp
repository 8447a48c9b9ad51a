// SPDX-License-Identifier: Apache-2.0
#include "pin_rules.hpp"
#include "source.hpp"

#include <clang/Basic/SourceManager.h>
#include <clang/StaticAnalyzer/Core/PathSensitive/SValBuilder.h>

namespace pinwarden::scan {
namespace {

using namespace clang;
using namespace clang::ento;

/// A call that gives memory or a pin back, seen from the memory.
struct Giving {
    PathLog& log;
    const CallEvent& call;
    CheckerContext& context;
    const Api& api;
    const Stmt& place;
    const Expr* argument;
    const MemRegion* memory;
    ProgramStateRef state;

    void report(const char* rule, Confidence confidence, std::string message) const
    {
        log.report(rule, confidence, place, std::move(message), context.getPredecessor(), memory);
    }

    void release(const MemRegion* of, const PinState& pin)
    {
        PinState done = pin;
        done.status = PinStatus::released;
        done.change = &place;
        state = state->set<Pins>(of, done);
    }
};

/// True for calls that give back a pin of memory that stays someone else's.
bool gives_back_registration(const Api& api)
{
    return api.family.ends_with("-register") || api.family == "mlock" || api.family == "verbs";
}

bool allocates(const Api& api)
{
    return api.kind != ApiKind::pin_argument && api.memory_argument < 0;
}

/// The pin of a piece of memory, or of the block around it, that is still live.
std::pair<const MemRegion*, const PinState*> pin_around(const ProgramStateRef& state, const MemRegion* memory)
{
    if (const PinState* pin = state->get<Pins>(memory))
        return {memory, pin};
    const MemRegion* base = memory->getBaseRegion();
    if (const PinState* pin = base == memory ? nullptr : state->get<Pins>(base))
        return {base, pin};
    return {nullptr, nullptr};
}

bool is_address_of_pointer(const Expr* argument)
{
    const auto* address = dyn_cast_or_null<UnaryOperator>(plain(argument));
    if (!address || address->getOpcode() != UO_AddrOf)
        return false;
    const Expr* named = plain(address->getSubExpr());
    return isa<DeclRefExpr, MemberExpr>(named) && named->getType()->isAnyPointerType();
}

bool is_size_of_pointer(const Expr* argument)
{
    const auto* size = dyn_cast_or_null<UnaryExprOrTypeTraitExpr>(plain(argument));
    if (!size || size->getKind() != UETT_SizeOf)
        return false;
    const QualType type = size->getTypeOfArgument();
    return type->isAnyPointerType() && !size->isArgumentType();
}

void check_length(const Giving& giving, const PinState& pin)
{
    const auto* call = dyn_cast_or_null<CallExpr>(giving.call.getOriginExpr());
    if (!call || giving.api.size_argument < 0 || !pin.site)
        return;
    const auto* pinning = dyn_cast<CallExpr>(pin.site->call);
    if (!pinning || pin.site->api->size_argument < 0)
        return;
    const SVal length = giving.call.getArgSVal(static_cast<unsigned>(giving.api.size_argument));
    const llvm::APSInt* given = length.getAsInteger();
    const Expr* asked = argument_of(*pinning, pin.site->api->size_argument);
    Expr::EvalResult constant;
    if (!given || !asked || asked->isValueDependent() ||
        !asked->EvaluateAsInt(constant, giving.context.getASTContext()))
        return;
    const llvm::APSInt& pinned = constant.Val.getInt();
    if (given->getZExtValue() < pinned.getZExtValue())
        giving.report("wrong-argument", Confidence::likely,
                      "'" + giving.api.name + "' gives back " + std::to_string(given->getZExtValue()) +
                          " of " + std::to_string(pinned.getZExtValue()) + " pinned bytes");
}

void remember_member_release(Giving& giving)
{
    const FieldDecl* field = origin_field(giving.memory);
    if (!field)
        return;
    MemberRelease release;
    release.field = field;
    release.memory = giving.memory;
    release.call = &giving.place;
    release.api = &giving.api;
    release.frame = giving.context.getStackFrame();
    release.after_sync = giving.state->get<SyncSeen>();
    release.decisions = giving.log.decisions_before(giving.context.getPredecessor());
    giving.log.releases.push_back(std::move(release));
    const MemRegion* object = origin_object(giving.memory);
    for (const auto& [freed, where] : giving.state->get<FreedMemory>()) {
        const FieldDecl* before = origin_field(freed);
        if (before && before != field && origin_object(freed) == object)
            giving.log.facts().freed_before_release.push_back(
                {member_key(*before), member_key(*field),
                 locate(giving.context.getSourceManager(), call_location(*where)),
                 function_id(giving.log.function())});
    }
}

void release_pin(Giving& giving)
{
    if (is_address_of_pointer(giving.argument)) {
        giving.report("wrong-argument", Confidence::certain,
                      "'" + giving.api.name + "' is given the address of the pointer, not the pinned memory");
        const Expr* named = plain(cast<UnaryOperator>(plain(giving.argument))->getSubExpr());
        const SVal held = giving.state->getSVal(giving.memory);
        if (const MemRegion* meant = named ? memory_of(held) : nullptr) {
            if (const PinState* pin = giving.state->get<Pins>(meant))
                giving.release(meant, *pin);
        }
        return;
    }
    if (const MemRegion* const* host = giving.state->get<DeviceViews>(giving.memory)) {
        giving.report("wrong-argument", Confidence::certain,
                      "'" + giving.api.name +
                          "' is given the device's address of the memory, not the host's");
        if (const PinState* pin = giving.state->get<Pins>(*host))
            giving.release(*host, *pin);
        return;
    }
    if (const auto* call = dyn_cast_or_null<CallExpr>(giving.call.getOriginExpr());
        call && giving.api.size_argument >= 0 &&
        is_size_of_pointer(argument_of(*call, giving.api.size_argument))) {
        giving.report("wrong-argument", Confidence::certain,
                      "'" + giving.api.name + "' is given the size of a pointer as the length of the memory");
        if (const PinState* pin = giving.state->get<Pins>(giving.memory))
            giving.release(giving.memory, *pin);
        return;
    }
    const auto [owner, pin] = pin_around(giving.state, giving.memory);
    if (const Stmt* const* freed = giving.state->get<FreedMemory>(giving.memory);
        freed && gives_back_registration(giving.api)) {
        giving.log.report("freed-while-registered", Confidence::certain, **freed,
                          "the memory is given back before '" + giving.api.name + "' releases its pin",
                          giving.context.getPredecessor(), giving.memory);
        if (pin)
            giving.release(owner, *pin);
        return;
    }
    if (!pin) {
        remember_member_release(giving);
        PinState unknown;
        unknown.outside = true;
        giving.release(giving.memory, unknown);
        return;
    }
    if (owner != giving.memory) {
        const bool exact = pin->site && !pin->site->api->by_range && pin->status == PinStatus::live;
        if (exact && !giving.api.by_range &&
            ApiTable::compatible(pin->site->api->family, giving.api.family)) {
            giving.report("wrong-argument", Confidence::certain,
                          "'" + giving.api.name +
                              "' is given an address inside the pinned memory, not its beginning");
            giving.release(owner, *pin);
        }
        return;
    }
    const bool same_family = !pin->site || ApiTable::compatible(pin->site->api->family, giving.api.family);
    if (pin->status == PinStatus::foreign) {
        giving.report("double-release", Confidence::certain,
                      "'" + giving.api.name + "' takes back a registration that someone else has made");
        giving.state = giving.state->remove<Pins>(owner);
        return;
    }
    if (pin->status == PinStatus::released) {
        const bool ranges = giving.api.by_range;
        if (same_family && pin->change != &giving.place && !ranges)
            giving.report("double-release", Confidence::certain,
                          "'" + giving.api.name + "' releases a pin that was released before");
        return;
    }
    if (!same_family)
        giving.report("wrong-release", Confidence::certain,
                      "memory pinned by '" + pin->site->api->name + "' is released by '" + giving.api.name +
                          "'");
    else
        check_length(giving, *pin);
    remember_member_release(giving);
    giving.release(owner, *pin);
}

void free_memory(Giving& giving)
{
    const auto [owner, pin] = pin_around(giving.state, giving.memory);
    const bool map = giving.api.family == "map";
    if (pin && owner == giving.memory && pin->status == PinStatus::live && pin->site) {
        const Api& pinned_by = *pin->site->api;
        if (pinned_by.family == "locked-map" && map)
            return;
        if (allocates(pinned_by)) {
            giving.report("wrong-release", Confidence::certain,
                          "memory pinned by '" + pinned_by.name + "' is released by '" + giving.api.name +
                              "'");
            giving.release(owner, *pin);
            return;
        }
        if (giving.api.family == "device")
            return;
        // The kernel drops the locks of pages that are unmapped, so only a registration suffers from that.
        if (!(map && pinned_by.family == "mlock"))
            giving.report("freed-while-registered", Confidence::certain,
                          "memory pinned by '" + pinned_by.name + "' is given back by '" + giving.api.name +
                              "' while it is still pinned");
        giving.log.settled.insert(pin->site);
        giving.state = giving.state->remove<Pins>(owner);
        return;
    }
    for (const auto& [handle, state] : giving.state->get<Pins>()) {
        if (state.status == PinStatus::live && state.site && state.site->memory == giving.memory &&
            handle != owner && handle != giving.memory && giving.api.family != "device") {
            giving.report("freed-while-registered", Confidence::certain,
                          "memory pinned by '" + state.site->api->name + "' is given back by '" +
                              giving.api.name + "' while it is still pinned");
            const MemRegion* of = handle;
            const PinState copy = state;
            giving.release(of, copy);
            break;
        }
    }
    if (giving.api.family != "device") {
        remember_member_release(giving);
        giving.state = giving.state->set<FreedMemory>(giving.memory, &giving.place);
        giving.state = lose_contents(giving.log, giving.state, giving.memory, giving.context);
    } else {
        remember_member_release(giving);
        giving.state = giving.state->set<FreedMemory>(giving.memory, &giving.place);
    }
}

const Api& delete_api()
{
    static const Api api = [] {
        Api made;
        made.name = "delete";
        made.kind = ApiKind::free_memory;
        made.family = "new";
        return made;
    }();
    return api;
}

}  // namespace

ProgramStateRef before_release(PathLog& log, ProgramStateRef state, const CallEvent& call,
                               CheckerContext& context)
{
    const auto* function = dyn_cast_or_null<FunctionDecl>(call.getDecl());
    const Stmt* place = call.getOriginExpr();
    if (!place)
        return state;
    std::vector<const Api*> apis;
    if (isa<CXXDeallocatorCall>(call)) {
        apis.push_back(&delete_api());
    } else {
        for (const Api& api : apis_of(log.apis(), function)) {
            const bool gives = api.kind == ApiKind::release || api.kind == ApiKind::free_memory ||
                               api.kind == ApiKind::move_memory;
            if (gives && !(api.wrapper && function->hasBody()))
                apis.push_back(&api);
        }
    }
    // `munmap` is both the release of locked mappings and the end of ordinary ones; the pin decides.
    const Api* chosen = nullptr;
    for (const Api* api : apis) {
        if (!chosen || api->kind == ApiKind::free_memory)
            chosen = api;
    }
    if (!chosen || static_cast<unsigned>(chosen->argument) >= call.getNumArgs())
        return state;
    const MemRegion* memory = memory_of(call.getArgSVal(static_cast<unsigned>(chosen->argument)));
    if (!memory)
        return state;
    if (apis.size() > 1) {
        const PinState* pin = state->get<Pins>(memory);
        for (const Api* api : apis) {
            if (pin && pin->site && pin->site->api->family == api->family && api->kind == ApiKind::release)
                chosen = api;
        }
    }
    const Expr* argument = call.getArgExpr(static_cast<unsigned>(chosen->argument));
    Giving giving{log, call, context, *chosen, *place, argument, memory, state};
    if (ProgramStateRef in_flight = check_flight_at_release(log, state, memory, call, context))
        giving.state = in_flight;
    if (chosen->kind == ApiKind::release)
        release_pin(giving);
    else
        free_memory(giving);
    return giving.state;
}

}  // namespace pinwarden::scan
