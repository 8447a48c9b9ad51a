// SPDX-License-Identifier: Apache-2.0
#include "pin_rules.hpp"
#include "source.hpp"

namespace pinwarden::scan {
namespace {

using namespace clang;
using namespace clang::ento;

/// The block behind a pointer, whatever the offset; null for memory that lies inside another object.
const MemRegion* block_of(const MemRegion* memory)
{
    while (const auto* element = dyn_cast_or_null<ElementRegion>(memory))
        memory = element->getSuperRegion();
    return memory && isa<SymbolicRegion>(memory) ? memory : nullptr;
}

/// The block that a store changes, through members and elements of what the pointer points to.
const MemRegion* stored_block(const MemRegion* place)
{
    const MemRegion* base = place ? place->getBaseRegion() : nullptr;
    return base && isa<SymbolicRegion>(base) ? base : nullptr;
}

/// A stream or event as far as two of them can be told apart.
struct Queue {
    const void* value = nullptr;
    const Decl* name = nullptr;
    bool is_default = false;

    bool known() const { return value || name; }
    bool may_be(const void* other_value, const Decl* other_name) const
    {
        if (is_default || !known() || (!other_value && !other_name))
            return true;
        return (value && value == other_value) || (name && name == other_name);
    }
};

Queue queue_of(const CallEvent& call, int index)
{
    Queue queue;
    if (index < 0 || static_cast<unsigned>(index) >= call.getNumArgs())
        return queue;
    const SVal value = call.getArgSVal(static_cast<unsigned>(index));
    if (value.isZeroConstant()) {
        queue.is_default = true;
        return queue;
    }
    if (const SymbolRef symbol = value.getAsSymbol())
        queue.value = symbol;
    else
        queue.value = value.getAsRegion();
    const Expr* expression = plain(call.getArgExpr(static_cast<unsigned>(index)));
    if (const auto* name = dyn_cast_or_null<DeclRefExpr>(expression))
        queue.name = name->getDecl()->getCanonicalDecl();
    else if (const auto* member = dyn_cast_or_null<MemberExpr>(expression))
        queue.name = member->getMemberDecl()->getCanonicalDecl();
    return queue;
}

/// The statement in the frame of the copy that led to what happens now.
const Stmt& seen_from(const StackFrameContext* frame, const Stmt& place, const CheckerContext& context)
{
    const Stmt* at = &place;
    for (const StackFrameContext* here = context.getStackFrame(); here && here != frame;) {
        if (!here->getCallSite() || !here->getParent())
            return place;
        at = here->getCallSite();
        here = here->getParent()->getStackFrame();
    }
    return *at;
}

}  // namespace

ProgramStateRef queue_copy(ProgramStateRef state, const Api& api, const CallEvent& call,
                           CheckerContext& context)
{
    bool source = api.direction != CopyDirection::device_to_host;
    bool destination = api.direction != CopyDirection::host_to_device;
    if (api.direction == CopyDirection::by_argument && api.direction_argument >= 0 &&
        static_cast<unsigned>(api.direction_argument) < call.getNumArgs()) {
        constexpr std::uint64_t host_to_device = 1;
        constexpr std::uint64_t device_to_host = 2;
        constexpr std::uint64_t device_to_device = 3;
        if (const llvm::APSInt* kind =
                call.getArgSVal(static_cast<unsigned>(api.direction_argument)).getAsInteger()) {
            const std::uint64_t way = kind->getZExtValue();
            source = way != device_to_host && way != device_to_device;
            destination = way != host_to_device && way != device_to_device;
        }
    }
    const Queue stream = queue_of(call, api.stream_argument);
    const Flight flight{
        call.getOriginExpr(), context.getStackFrame(), stream.value, stream.name, nullptr, nullptr};
    for (const auto& [wanted, index] :
         {std::pair(source, api.memory_argument), std::pair(destination, api.argument)}) {
        if (!wanted || index < 0 || static_cast<unsigned>(index) >= call.getNumArgs())
            continue;
        if (const MemRegion* block = block_of(memory_of(call.getArgSVal(static_cast<unsigned>(index)))))
            state = state->set<Flights>(block, flight);
    }
    return state;
}

ProgramStateRef before_wait(PathLog& log, ProgramStateRef state, const CallEvent& call,
                            CheckerContext& context)
{
    const auto* function = dyn_cast_or_null<FunctionDecl>(call.getDecl());
    for (const Api& api : apis_of(log.apis(), function)) {
        switch (api.kind) {
        case ApiKind::sync_all:
            for (const auto& [memory, flight] : state->get<Flights>())
                state = state->remove<Flights>(memory);
            state = state->set<SyncSeen>(true);
            break;
        case ApiKind::sync_stream: {
            const Queue stream = queue_of(call, api.argument);
            for (const auto& [memory, flight] : state->get<Flights>()) {
                if (stream.may_be(flight.stream, flight.stream_name))
                    state = state->remove<Flights>(memory);
            }
            state = state->set<SyncSeen>(true);
            break;
        }
        case ApiKind::sync_event: {
            const Queue event = queue_of(call, api.argument);
            for (const auto& [memory, flight] : state->get<Flights>()) {
                if ((flight.event || flight.event_name) && event.may_be(flight.event, flight.event_name))
                    state = state->remove<Flights>(memory);
            }
            state = state->set<SyncSeen>(true);
            break;
        }
        case ApiKind::record_event: {
            const Queue event = queue_of(call, api.argument);
            const Queue stream = queue_of(call, api.stream_argument);
            for (const auto& [memory, flight] : state->get<Flights>()) {
                if (!stream.may_be(flight.stream, flight.stream_name))
                    continue;
                Flight marked = flight;
                marked.event = event.value;
                marked.event_name = event.name;
                state = state->set<Flights>(memory, marked);
            }
            break;
        }
        case ApiKind::write:
            if (static_cast<unsigned>(api.argument) < call.getNumArgs()) {
                const MemRegion* memory = memory_of(call.getArgSVal(static_cast<unsigned>(api.argument)));
                if (call.getOriginExpr())
                    state = check_host_write(log, state, memory, *call.getOriginExpr(), context);
            }
            break;
        default: break;
        }
    }
    return state;
}

ProgramStateRef check_flight_at_release(PathLog& log, ProgramStateRef state, const MemRegion* memory,
                                        const CallEvent& call, CheckerContext& context)
{
    const MemRegion* block = block_of(memory);
    const Flight* flight = block ? state->get<Flights>(block) : nullptr;
    if (!flight)
        return state;
    const auto* function = dyn_cast_or_null<FunctionDecl>(call.getDecl());
    if (!api_of_kind(log.apis(), function, ApiKind::release))
        return state;
    log.report("release-in-flight", Confidence::certain, *call.getOriginExpr(),
               "the pin is released while a copy of the memory may still be in flight",
               context.getPredecessor(), block);
    return state->remove<Flights>(block);
}

ProgramStateRef check_host_write(PathLog& log, ProgramStateRef state, const MemRegion* memory,
                                 const Stmt& place, CheckerContext& context)
{
    const MemRegion* block = stored_block(memory);
    const Flight* flight = block ? state->get<Flights>(block) : nullptr;
    const PinState* pin = block ? state->get<Pins>(block) : nullptr;
    if (!flight || !pin || pin->status != PinStatus::live || !pin->site)
        return state;
    log.report("reuse-in-flight", Confidence::certain, place,
               "the host writes pinned memory while a copy of it may still be in flight",
               context.getPredecessor(), block);
    return state->remove<Flights>(block);
}

ProgramStateRef check_returned_to_pool(PathLog& log, ProgramStateRef state, SVal location, SVal value,
                                       const Stmt* place, CheckerContext& context)
{
    const MemRegion* target = location.getAsRegion();
    const MemRegion* object = memory_of(value);
    const auto* symbolic = dyn_cast_or_null<SymbolicRegion>(object);
    if (!place || !target || !symbolic)
        return state;
    // Put back to the place it was taken from: the next taker may have it at once.
    const auto* taken = dyn_cast<SymbolRegionValue>(symbolic->getSymbol());
    if (!taken || taken->getRegion() != target || !isa<FieldRegion, ElementRegion>(target))
        return state;
    for (const auto& [memory, flight] : state->get<Flights>()) {
        const bool inside = origin_object(memory) == object || memory == object;
        if (!inside || flight.event || flight.event_name)
            continue;
        log.report("reuse-in-flight", Confidence::likely, seen_from(flight.frame, *place, context),
                   "a block goes back to its pool while a copy of its memory may still be in flight",
                   context.getPredecessor(), memory);
        return state->remove<Flights>(memory);
    }
    return state;
}

}  // namespace pinwarden::scan
