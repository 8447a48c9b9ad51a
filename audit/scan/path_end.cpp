// SPDX-License-Identifier: Apache-2.0
#include "feasible.hpp"
#include "member_objects.hpp"
#include "pin_rules.hpp"
#include "source.hpp"

namespace pinwarden::scan {
namespace {

using namespace clang;
using namespace clang::ento;

/// Functions with more paths than this are judged by the first ones.
constexpr std::size_t most_ends = 2000;

Answer answer_of(const ProgramStateRef& state, SVal value)
{
    if (value.isUnknownOrUndef())
        return Answer::unknown;
    if (const llvm::APSInt* number = value.getAsInteger()) {
        if (*number == 0)
            return Answer::zero;
        return number->isSigned() && number->isNegative() ? Answer::negative : Answer::other;
    }
    const std::optional<bool> truth = truth_of(state, value);
    if (!truth)
        return Answer::unknown;
    return *truth ? Answer::other : Answer::zero;
}

Answer returned(const ReturnStmt* statement, const ExplodedNode* node)
{
    const Expr* value = statement ? statement->getRetValue() : nullptr;
    if (!value || value->getType()->isVoidType())
        return Answer::none;
    constexpr int far_enough = 20;
    const LocationContext* frame = node->getLocationContext();
    for (int step = 0; node && step < far_enough; ++step, node = node->getFirstPred()) {
        const SVal known = node->getState()->getSVal(value, frame);
        if (!known.isUnknown())
            return answer_of(node->getState(), known);
    }
    return Answer::unknown;
}

}  // namespace

void record_path_end(PathLog& log, const ReturnStmt* statement, CheckerContext& context)
{
    if (log.ends.size() >= most_ends)
        return;
    const ProgramStateRef state = context.getState();
    if (!is_feasible(log, log.decisions_before(context.getPredecessor())))
        return;
    PathEnd end;
    end.node = context.getPredecessor();
    end.statement = statement;
    end.answer = returned(statement, end.node);
    for (const auto& [memory, pin] : state->get<Pins>())
        end.pins.push_back({memory, pin, nullptr, nullptr, {}});
    for (const LostPin& lost : state->get<LostPins>())
        end.lost.push_back(lost);
    for (const PinSite* failed : state->get<FailedPins>())
        end.failed.push_back(failed);

    SValBuilder& values = context.getSValBuilder();
    for_each_outer_member(
        state, context.getLocationContext(), values, [&](const FieldDecl& field, const FieldRegion& region) {
            const SVal value = state->getSVal(&region);
            const MemRegion* memory = memory_of(value);
            for (PinAtEnd& pin : end.pins) {
                if (pin.memory == memory && !pin.holder)
                    pin.holder = &field;
                else if (memory && pin.state.site && pin.state.site->memory == memory)
                    pin.memory_holder = &field;
            }
            const QualType type = field.getType();
            if (!type->isIntegralOrEnumerationType() && !type->isPointerType())
                return;
            if (const auto before = truth_of(state, values.getRegionValueSymbolVal(&region))) {
                end.entry_flags.emplace(&field, *before);
                if (!*before && type->isPointerType())
                    end.known_null.insert(&field);
            }
        });
    for (PinAtEnd& pin : end.pins) {
        if (!pin.holder || pin.state.status == PinStatus::released)
            continue;
        for_each_outer_member(state, context.getLocationContext(), values,
                              [&](const FieldDecl& field, const FieldRegion& region) {
                                  const QualType type = field.getType();
                                  if (!type->isIntegralOrEnumerationType() && !type->isPointerType())
                                      return;
                                  if (const auto now = truth_of(state, state->getSVal(&region)))
                                      pin.flags.emplace(member_key(field), *now);
                              });
    }
    for (const auto& [memory, flight] : state->get<Flights>()) {
        // A stream that the caller gave is the caller's to wait for.
        const FieldDecl* field =
            flight.stream_name && isa<FieldDecl>(flight.stream_name) ? origin_field(memory) : nullptr;
        if (field)
            end.in_flight.push_back(field);
    }
    log.ends.push_back(std::move(end));
}

}  // namespace pinwarden::scan
