// SPDX-License-Identifier: Apache-2.0
#include "pin_rules.hpp"

#include <clang/StaticAnalyzer/Core/PathSensitive/Store.h>

namespace pinwarden::scan {
namespace {

using namespace clang;
using namespace clang::ento;

/// Collects the tracked memory whose address is stored somewhere inside one object.
class ContentsOf : public StoreManager::BindingsHandler {
public:
    ContentsOf(ProgramStateRef state, const MemRegion* object) : state_(std::move(state)), object_(object) {}

    bool HandleBinding(StoreManager&, Store, const MemRegion* region, SVal value) override
    {
        if (region && region->getBaseRegion() == object_->getBaseRegion()) {
            const MemRegion* memory = memory_of(value);
            if (memory && state_->get<Pins>(memory))
                found.push_back(memory);
        }
        return true;
    }

    std::vector<const MemRegion*> found;

private:
    ProgramStateRef state_;
    const MemRegion* object_;
};

}  // namespace

ProgramStateRef note_overwritten(PathLog&, ProgramStateRef state, const MemRegion* target, SVal value,
                                 const Stmt* place)
{
    if (!target)
        return state;
    const MemRegion* old = memory_of(state->getSVal(target));
    const PinState* pin = old ? state->get<Pins>(old) : nullptr;
    if (!pin || pin->status != PinStatus::live || pin->outside || memory_of(value) == old)
        return state;
    if (value.getAsRegion() && value.getAsRegion()->getBaseRegion() == old->getBaseRegion())
        return state;  // a cursor that moves inside the same memory
    PinState changed = *pin;
    changed.overwritten = true;
    changed.change = place;
    return state->set<Pins>(old, changed);
}

ProgramStateRef collect_dead(ProgramStateRef state, SymbolReaper& reaper, CheckerContext& context)
{
    for (const auto& [memory, pin] : state->get<Pins>()) {
        if (reaper.isLiveRegion(memory))
            continue;
        if (pin.status == PinStatus::live && !pin.outside && pin.site)
            state = state->add<LostPins>(LostPin{pin.site, context.getStackFrame(), pin.overwritten});
        if (pin.status == PinStatus::live && !pin.outside)
            state = state->remove<Pins>(memory);
    }
    return state;
}

ProgramStateRef share_contents(ProgramStateRef state, const MemRegion* object, CheckerContext& context)
{
    const auto* symbolic = dyn_cast_or_null<SymbolicRegion>(object ? object->getBaseRegion() : nullptr);
    if (!symbolic || state->get<Pins>().isEmpty() || !isa<HeapSpaceRegion>(symbolic->getMemorySpace()))
        return state;
    ContentsOf contents(state, object);
    context.getStoreManager().iterBindings(state->getStore(), contents);
    for (const MemRegion* memory : contents.found)
        state = make_outside(state, memory);
    return state;
}

ProgramStateRef lose_contents(PathLog&, ProgramStateRef state, const MemRegion* object,
                              CheckerContext& context)
{
    ContentsOf contents(state, object);
    context.getStoreManager().iterBindings(state->getStore(), contents);
    for (const MemRegion* memory : contents.found) {
        const PinState* pin = state->get<Pins>(memory);
        if (!pin || pin->status != PinStatus::live || pin->outside || !pin->site)
            continue;
        state = state->add<LostPins>(LostPin{pin->site, context.getStackFrame(), false});
        state = state->remove<Pins>(memory);
    }
    return state;
}

}  // namespace pinwarden::scan
