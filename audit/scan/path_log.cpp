// SPDX-License-Identifier: Apache-2.0
#include "path_log.hpp"

#include "feasible.hpp"
#include "source.hpp"

#include <clang/Analysis/CFG.h>
#include <clang/Basic/SourceManager.h>
#include <clang/StaticAnalyzer/Core/PathSensitive/SymbolManager.h>

#include <algorithm>

namespace pinwarden::scan {
namespace {

using namespace clang;
using namespace clang::ento;

/// True if a branch decides whether a loop goes on, be it through a part of a longer condition.
bool decides_loop(const Stmt* terminator, const LocationContext* frame)
{
    const ParentMap& parents = frame->getParentMap();
    const Stmt* child = terminator;
    for (const Stmt* at = terminator; at; child = at, at = parents.getParent(at)) {
        if (isa<ForStmt, WhileStmt, DoStmt, CXXForRangeStmt>(at)) {
            if (at == terminator)
                return true;
            const auto* condition = isa<ForStmt>(at) ? static_cast<const Stmt*>(cast<ForStmt>(at)->getCond())
                                    : isa<WhileStmt>(at)
                                        ? static_cast<const Stmt*>(cast<WhileStmt>(at)->getCond())
                                    : isa<DoStmt>(at) ? static_cast<const Stmt*>(cast<DoStmt>(at)->getCond())
                                                      : nullptr;
            return condition && condition == child;
        }
        if (!isa<Expr>(at))
            return false;
    }
    return false;
}

const TypedValueRegion* origin_region(const MemRegion* memory)
{
    const auto* symbolic = dyn_cast_or_null<SymbolicRegion>(memory);
    if (!symbolic)
        return nullptr;
    const SymExpr* symbol = symbolic->getSymbol();
    if (const auto* value = dyn_cast<SymbolRegionValue>(symbol))
        return value->getRegion();
    if (const auto* derived = dyn_cast<SymbolDerived>(symbol))
        return derived->getRegion();
    return nullptr;
}

void add_note(std::vector<PathNote>& notes, const SourceManager& sources, SourceLocation at, std::string text)
{
    PathNote note{locate(sources, at), std::move(text)};
    if (note.location.line == 0)
        return;
    if (notes.empty() || notes.back().location != note.location || notes.back().text != note.text)
        notes.push_back(std::move(note));
}

}  // namespace

const MemRegion* memory_of(SVal pointer)
{
    const MemRegion* region = pointer.getAsRegion();
    return region ? region->StripCasts() : nullptr;
}

const FieldDecl* origin_field(const MemRegion* memory)
{
    const MemRegion* region = origin_region(memory);
    while (const auto* element = dyn_cast_or_null<ElementRegion>(region))
        region = element->getSuperRegion();
    const auto* field = dyn_cast_or_null<FieldRegion>(region);
    return field ? field->getDecl() : nullptr;
}

const MemRegion* origin_object(const MemRegion* memory)
{
    const MemRegion* region = origin_region(memory);
    while (const auto* element = dyn_cast_or_null<ElementRegion>(region))
        region = element->getSuperRegion();
    const auto* field = dyn_cast_or_null<FieldRegion>(region);
    return field ? field->getSuperRegion()->StripCasts() : nullptr;
}

std::optional<bool> truth_of(const ProgramStateRef& state, SVal value)
{
    const std::optional<DefinedSVal> defined = value.getAs<DefinedSVal>();
    if (!defined)
        return std::nullopt;
    if (defined->getAs<nonloc::LazyCompoundVal>() || defined->getAs<nonloc::CompoundVal>())
        return std::nullopt;
    const auto [when_true, when_false] = state->assume(*defined);
    if (when_true && when_false)
        return std::nullopt;
    return static_cast<bool>(when_true);
}

void PathLog::begin(const FunctionDecl& function, const StackFrameContext* frame)
{
    function_ = &function;
    frame_ = frame;
    ends.clear();
    releases.clear();
    settled.clear();
    sites_.clear();
}

const PinSite* PathLog::intern(const PinSite& site)
{
    for (const PinSite& known : sites_) {
        if (known.call == site.call && known.frame == site.frame && known.api == site.api &&
            known.target == site.target && known.memory == site.memory &&
            known.over_unknown == site.over_unknown)
            return &known;
    }
    sites_.push_back(site);
    return &sites_.back();
}

const Stmt& PathLog::call_in_frame(const PinSite& site, const StackFrameContext* losing)
{
    const Stmt* call = site.call;
    const StackFrameContext* frame = site.frame;
    while (frame && frame != losing) {
        const Stmt* from = frame->getCallSite();
        const LocationContext* parent = frame->getParent();
        if (!from || !parent)
            return frame == losing ? *call : *site.call;
        call = from;
        frame = parent->getStackFrame();
    }
    return *call;
}

std::vector<PathDecision> PathLog::decisions_before(const ExplodedNode* node) const
{
    std::vector<PathDecision> out;
    for (; node; node = node->getFirstPred()) {
        const std::optional<BlockEdge> edge = node->getLocationAs<BlockEdge>();
        if (!edge || edge->getSrc()->succ_size() != 2)
            continue;
        const Stmt* terminator = edge->getSrc()->getTerminatorStmt();
        const auto* condition = dyn_cast_or_null<Expr>(edge->getSrc()->getTerminatorCondition());
        if (!terminator || !condition)
            continue;
        const CFGBlock::AdjacentBlock& yes = *edge->getSrc()->succ_begin();
        PathDecision decision;
        decision.terminator = terminator;
        decision.condition = condition;
        decision.frame = node->getStackFrame();
        decision.taken = yes.getReachableBlock() == edge->getDst();
        decision.in_loop = decides_loop(terminator, node->getLocationContext());
        out.push_back(decision);
    }
    std::reverse(out.begin(), out.end());
    return out;
}

void PathLog::report(const char* rule, Confidence confidence, const Stmt& place, std::string message,
                     const ExplodedNode* node, const MemRegion* memory)
{
    const SourceManager& sources = ast_->getSourceManager();
    const SourceLocation at = call_location(place);
    if (sources.isInSystemHeader(sources.getFileLoc(at)) || !is_feasible(*this, decisions_before(node)))
        return;
    Finding finding;
    finding.rule = rule;
    finding.confidence = confidence;
    finding.location = locate(sources, at);
    finding.message = std::move(message);
    finding.function = readable_name(*function_);
    std::vector<PathNote> notes;
    for (const ExplodedNode* step = node; step; step = step->getFirstPred()) {
        const ExplodedNode* before = step->getFirstPred();
        const std::optional<BlockEdge> edge = step->getLocationAs<BlockEdge>();
        if (edge && edge->getSrc()->succ_size() == 2) {
            const auto* condition = dyn_cast_or_null<Expr>(edge->getSrc()->getTerminatorCondition());
            const bool taken = edge->getSrc()->succ_begin()->getReachableBlock() == edge->getDst();
            if (condition)
                add_note(notes, sources, condition->getExprLoc(),
                         "the condition is " + std::string(taken ? "true" : "false"));
        }
        if (!memory || !before)
            continue;
        const PinState* now = step->getState()->get<Pins>(memory);
        const PinState* then = before->getState()->get<Pins>(memory);
        if (now && !then && now->site)
            add_note(notes, sources, call_location(*now->site->call), "host memory is pinned");
        else if (now && now->status == PinStatus::released &&
                 (!then || then->status != PinStatus::released) && now->change)
            add_note(notes, sources, call_location(*now->change), "the pin is released");
        else if (now && then && now->overwritten && !then->overwritten && now->change)
            add_note(notes, sources, now->change->getBeginLoc(),
                     "the last pointer to the pin is overwritten");
    }
    std::reverse(notes.begin(), notes.end());
    constexpr std::size_t most_notes = 40;
    if (notes.size() > most_notes)
        notes.erase(notes.begin(), notes.end() - most_notes);
    finding.notes = std::move(notes);
    findings_->push_back(std::move(finding));
}

}  // namespace pinwarden::scan
