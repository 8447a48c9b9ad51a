// SPDX-License-Identifier: Apache-2.0
#include "feasible.hpp"
#include "holes.hpp"
#include "pin_rules.hpp"
#include "source.hpp"

#include <algorithm>
#include <map>

namespace pinwarden::scan {
namespace {

using namespace clang;
using namespace clang::ento;

/// What all paths together say about one pin.
struct PinHistory {
    std::vector<const PathEnd*> released;
    std::vector<const PathEnd*> held;    ///< live at the end, reachable for someone outside
    std::vector<const PathEnd*> failed;  ///< the pin call did not work
    std::vector<std::pair<const PathEnd*, LostPin>> lost;
    std::set<const Stmt*> releases;
    const MemRegion* memory = nullptr;
};

bool leaves(const Stmt* statement)
{
    if (!statement)
        return false;
    if (isa<ReturnStmt, GotoStmt, BreakStmt, ContinueStmt, CXXThrowExpr>(statement))
        return true;
    if (const auto* call = dyn_cast<CallExpr>(statement)) {
        const FunctionDecl* function = call->getDirectCallee();
        return function && function->isNoReturn();
    }
    if (const auto* block = dyn_cast<CompoundStmt>(statement))
        return !block->body_empty() && leaves(block->body_back());
    if (const auto* label = dyn_cast<LabelStmt>(statement))
        return leaves(label->getSubStmt());
    return false;
}

/// True if a condition on the path is what kept it from this release: the release stands in a branch that
/// goes on with the rest of the function, and the path took the other way.
bool passed_by(const Stmt* release, const std::vector<PathDecision>& decisions)
{
    for (const PathDecision& decision : decisions) {
        if (decision.in_loop)
            continue;
        const ParentMap& parents = decision.frame->getParentMap();
        if (!parents.getParent(release))
            continue;
        const Stmt* child = release;
        for (const Stmt* at = parents.getParent(release); at; child = at, at = parents.getParent(at)) {
            if (isa<SwitchStmt, ForStmt, WhileStmt, DoStmt, CXXForRangeStmt>(at))
                break;
            const auto* branch = dyn_cast<IfStmt>(at);
            if (!branch || child == branch->getCond())
                continue;
            if (leaves(child))
                break;
            const bool in_then = child == branch->getThen();
            const Stmt* terminator = decision.terminator;
            const bool decides = terminator == branch || (isa<BinaryOperator>(terminator) && [&] {
                                     for (const Stmt* up = terminator; up; up = parents.getParent(up)) {
                                         if (up == branch->getCond())
                                             return true;
                                         if (!isa<Expr>(up))
                                             return false;
                                     }
                                     return false;
                                 }());
            if (decides && decision.taken != in_then)
                return true;
        }
    }
    return false;
}

/// The answers that mean failure here: those given where the pin itself did not work, and all negative ones.
struct Verdicts {
    bool zero_fails = false;
    bool other_fails = false;
    bool known = false;

    explicit Verdicts(const PinHistory& history)
    {
        for (const PathEnd* end : history.failed) {
            zero_fails |= end->answer == Answer::zero;
            other_fails |= end->answer == Answer::other || end->answer == Answer::negative;
            known |= end->answer != Answer::unknown && end->answer != Answer::none;
        }
        if (zero_fails && other_fails)
            known = zero_fails = other_fails = false;
    }

    bool fails(Answer answer) const
    {
        return answer == Answer::negative || (answer == Answer::zero && zero_fails) ||
               (answer == Answer::other && (other_fails || (known && !zero_fails)));
    }

    bool works(Answer answer) const
    {
        return known && ((answer == Answer::zero && !zero_fails) || (answer == Answer::other && zero_fails));
    }
};

/// Decides about a pin that someone outside can still reach: it is lost only if the function shows on another
/// way out that it takes care of the pin itself.
const PathEnd* missed_by_own_standard(const PinHistory& history)
{
    if (history.released.empty())
        return nullptr;
    const Verdicts verdicts(history);
    const bool succeeds_released =
        std::any_of(history.released.begin(), history.released.end(),
                    [&](const PathEnd* end) { return verdicts.works(end->answer); });
    const bool any_answer = std::any_of(history.held.begin(), history.held.end(),
                                        [](const PathEnd* end) { return end->answer != Answer::none; });
    for (const PathEnd* end : history.held) {
        if (verdicts.fails(end->answer))
            return end;
        if (verdicts.works(end->answer) && succeeds_released)
            return end;
        if (!any_answer || end->answer == Answer::unknown) {
            // No answer tells success from failure; a pin released at the last way out belongs to the
            // function.
            const bool last_releases =
                std::any_of(history.released.begin(), history.released.end(), [&](const PathEnd* other) {
                    if (!other->statement)
                        return true;
                    return end->statement && end->statement != other->statement &&
                           end->statement->getBeginLoc() < other->statement->getBeginLoc();
                });
            if (last_releases)
                return end;
        }
    }
    return nullptr;
}

/// True if a statement that did not parse, and does not stand behind the end of the path, names the variable that
/// holds the pin: it may well release it.
bool lost_in_hole(const PathLog& log, const PinSite& site, const PathEnd& end)
{
    const auto* call = dyn_cast<CallExpr>(site.call);
    const Expr* argument = call ? argument_of(*call, std::max(site.api->argument, 0)) : nullptr;
    const Expr* named = plain(argument);
    if (const auto* address = dyn_cast_or_null<UnaryOperator>(named);
        address && address->getOpcode() == UO_AddrOf)
        named = plain(address->getSubExpr());
    const auto* variable = dyn_cast_or_null<DeclRefExpr>(named);
    const auto* owner = dyn_cast<FunctionDecl>(site.frame->getDecl());
    if (!variable || !owner || !owner->getBody() || !variable->getDecl()->getIdentifier())
        return false;
    SourceRange range = owner->getBody()->getSourceRange();
    if (end.statement && owner == &log.function() && !end.statement->getBeginLoc().isMacroID())
        range.setEnd(end.statement->getEndLoc());
    return log.holes->mention(range, variable->getDecl()->getName());
}

void report_leak(PathLog& log, const PinSite& site, const PinHistory& history, const PathEnd& end,
                 const StackFrameContext* frame)
{
    const std::vector<PathDecision> decisions = log.decisions_before(end.node);
    for (const Stmt* release : history.releases) {
        if (!passed_by(release, decisions))
            continue;
        log.report("conditional-release", Confidence::certain, *release,
                   "the pin of '" + site.api->name + "' is released only under a condition", end.node,
                   history.memory);
        return;
    }
    log.report("leak", Confidence::certain, PathLog::call_in_frame(site, frame),
               "memory pinned by '" + site.api->name + "' is not released on every path", end.node,
               history.memory);
}

bool compares_changed_member(const Expr* condition, const std::set<const FieldDecl*>& assigned,
                             const ASTContext& ast)
{
    const auto* comparison = dyn_cast<BinaryOperator>(condition->IgnoreParenImpCasts());
    if (!comparison || !comparison->isComparisonOp())
        return false;
    for (const auto& [member, other] : {std::pair(comparison->getLHS(), comparison->getRHS()),
                                        std::pair(comparison->getRHS(), comparison->getLHS())}) {
        const auto* named = dyn_cast_or_null<MemberExpr>(plain(member));
        const auto* field = named ? dyn_cast<FieldDecl>(named->getMemberDecl()) : nullptr;
        if (field && assigned.contains(field) && !other->isValueDependent() && !other->isEvaluatable(ast))
            return true;
    }
    return false;
}

void collect_assigned(const Stmt* where, std::set<const FieldDecl*>& out)
{
    if (!where)
        return;
    if (const auto* assignment = dyn_cast<BinaryOperator>(where);
        assignment && assignment->isAssignmentOp()) {
        const auto* member = dyn_cast_or_null<MemberExpr>(plain(assignment->getLHS()));
        if (const auto* field = member ? dyn_cast<FieldDecl>(member->getMemberDecl()) : nullptr)
            out.insert(field);
    }
    for (const Stmt* child : where->children())
        collect_assigned(child, out);
}

bool has_call(const Stmt* where)
{
    if (!where || isa<CallExpr>(where))
        return where;
    const auto children = where->children();
    return std::any_of(children.begin(), children.end(), [](const Stmt* child) { return has_call(child); });
}

bool mentions_field(const Stmt* where, const FieldDecl& field)
{
    if (!where)
        return false;
    const auto* member = dyn_cast<MemberExpr>(where);
    if (member && member->getMemberDecl() == &field)
        return true;
    const auto children = where->children();
    return std::any_of(children.begin(), children.end(),
                       [&](const Stmt* child) { return mentions_field(child, field); });
}

/// A function that compares a size with the one it keeps is made to be called again; if it then pins straight
/// into a member without asking what that holds, the pin of the call before is lost.
void judge_growing(PathLog& log)
{
    if (isa<CXXConstructorDecl>(&log.function()))
        return;
    std::set<const FieldDecl*> assigned;
    collect_assigned(log.function().getBody(), assigned);
    for (const PathEnd& end : log.ends) {
        for (const PinAtEnd& pin : end.pins) {
            const PinSite* site = pin.state.site;
            if (!site || !site->over_unknown || pin.state.status != PinStatus::live ||
                log.settled.contains(site))
                continue;
            const FieldDecl& field = *cast<FieldRegion>(site->target)->getDecl();
            bool grows = false;
            bool asked = false;
            for (const PathDecision& decision : log.decisions_before(end.node)) {
                grows |=
                    !decision.in_loop && compares_changed_member(decision.condition, assigned, log.ast());
                asked |= mentions_field(decision.condition, field) && !has_call(decision.condition);
            }
            if (!grows || asked)
                continue;
            log.settled.insert(site);
            log.report("overwritten-pin", Confidence::likely, *site->call,
                       "'" + field.getNameAsString() + "' may still hold the pin of an earlier call",
                       end.node, pin.memory);
        }
    }
}

}  // namespace

void judge_path_ends(PathLog& log)
{
    std::map<const PinSite*, PinHistory> histories;
    for (const PathEnd& end : log.ends) {
        for (const PinAtEnd& pin : end.pins) {
            if (!pin.state.site)
                continue;
            PinHistory& history = histories[pin.state.site];
            history.memory = pin.memory;
            if (pin.state.status == PinStatus::released) {
                history.released.push_back(&end);
                if (pin.state.change)
                    history.releases.insert(pin.state.change);
            } else if (pin.state.status == PinStatus::live) {
                const bool own = !pin.state.outside;
                if (!own)
                    history.held.push_back(&end);
            }
        }
        for (const LostPin& lost : end.lost)
            histories[lost.site].lost.emplace_back(&end, lost);
    }
    for (auto& [site, history] : histories) {
        for (const PathEnd& end : log.ends) {
            const bool failed = std::any_of(end.failed.begin(), end.failed.end(), [&](const PinSite* other) {
                return other->call == site->call && other->frame == site->frame;
            });
            if (failed)
                history.failed.push_back(&end);
        }
    }
    judge_growing(log);
    std::set<const Stmt*> reported;
    for (auto& [pin_site, history] : histories) {
        const PinSite* const site = pin_site;
        std::erase_if(history.lost,
                      [&](const auto& entry) { return lost_in_hole(log, *site, *entry.first); });
        std::erase_if(history.held, [&](const PathEnd* end) { return lost_in_hole(log, *site, *end); });
        if (log.settled.contains(site) || released_by_lambda(log, *site))
            continue;
        // The end of the program gives back what its main function still holds on a way out by an error.
        if (log.function().isMain() && !history.released.empty())
            continue;
        if (!history.lost.empty()) {
            const auto first = std::find_if(history.lost.begin(), history.lost.end(),
                                            [](const auto& entry) { return !entry.second.overwritten; });
            const auto& [end, lost] = first == history.lost.end() ? history.lost.front() : *first;
            if (!reported.insert(&PathLog::call_in_frame(*site, lost.frame)).second)
                continue;
            const auto over = std::find_if(history.lost.begin(), history.lost.end(),
                                           [](const auto& entry) { return entry.second.overwritten; });
            if (over != history.lost.end())
                log.report("overwritten-pin", Confidence::certain,
                           PathLog::call_in_frame(*site, over->second.frame),
                           "the only pointer to memory pinned by '" + site->api->name + "' is overwritten",
                           over->first->node, history.memory);
            else
                report_leak(log, *site, history, *end, lost.frame);
            continue;
        }
        if (const PathEnd* end = missed_by_own_standard(history)) {
            if (reported.insert(site->call).second)
                report_leak(log, *site, history, *end, site->frame);
        }
    }
}

}  // namespace pinwarden::scan
