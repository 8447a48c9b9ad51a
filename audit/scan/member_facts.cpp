// SPDX-License-Identifier: Apache-2.0
#include "pin_rules.hpp"
#include "preprocessor_record.hpp"
#include "source.hpp"

#include <clang/Lex/Lexer.h>

#include <algorithm>

namespace pinwarden::scan {
namespace {

using namespace clang;
using namespace clang::ento;

/// More variants than this of one event say nothing new.
constexpr std::size_t most_variants = 12;

using Fields = std::set<const FieldDecl*>;

void collect_fields(const Stmt* where, Fields& out)
{
    if (!where)
        return;
    if (const auto* member = dyn_cast<MemberExpr>(where)) {
        if (const auto* field = dyn_cast<FieldDecl>(member->getMemberDecl()))
            out.insert(field);
    }
    for (const Stmt* child : where->children())
        collect_fields(child, out);
}

/// The members that a condition asks through the functions it calls: `valid()` asks what its body asks.
void collect_fields_of_callees(const Stmt* where, Fields& out)
{
    if (!where)
        return;
    const auto* call = dyn_cast<CallExpr>(where);
    const FunctionDecl* callee = call ? call->getDirectCallee() : nullptr;
    if (const Stmt* body = callee ? callee->getBody() : nullptr)
        collect_fields(body, out);
    for (const Stmt* child : where->children())
        collect_fields_of_callees(child, out);
}

bool has_call(const Stmt* where)
{
    if (!where)
        return false;
    if (isa<CallExpr>(where))
        return true;
    const auto children = where->children();
    return std::any_of(children.begin(), children.end(), [](const Stmt* child) { return has_call(child); });
}

/// The call as the innermost function sees it that belongs to the record or is handed one of its objects.
const Stmt& place_for(const RecordDecl* record, const StackFrameContext* frame, const Stmt& call)
{
    const Stmt* at = &call;
    for (const StackFrameContext* here = frame; here;) {
        const auto* function = dyn_cast<FunctionDecl>(here->getDecl());
        const auto* method = dyn_cast_or_null<CXXMethodDecl>(function);
        if (method && method->getParent()->getCanonicalDecl() == record->getCanonicalDecl())
            return *at;
        if (function && !method) {
            for (const ParmVarDecl* parameter : function->parameters()) {
                const RecordDecl* given = parameter->getType()->getPointeeType().isNull()
                                              ? nullptr
                                              : parameter->getType()->getPointeeType()->getAsRecordDecl();
                if (given && given->getCanonicalDecl() == record->getCanonicalDecl())
                    return *at;
            }
        }
        if (!here->getCallSite() || !here->getParent())
            return *at;
        at = here->getCallSite();
        here = here->getParent()->getStackFrame();
    }
    return *at;
}

std::string method_record(const FunctionDecl& function)
{
    const auto* method = dyn_cast<CXXMethodDecl>(&function);
    return method ? record_key(method->getParent()) : std::string{};
}

class MemberFacts {
public:
    explicit MemberFacts(PathLog& log) : log_(log), function_(log.function()) {}

    void collect()
    {
        for (const PathEnd& end : log_.ends)
            collect_pins(end);
        collect_releases();
        for (const PathEnd& end : log_.ends) {
            for (const FieldDecl* field : end.in_flight)
                add_in_flight(*field);
        }
    }

private:
    Decision describe(const PathDecision& decision, const std::map<const FieldDecl*, bool>& flags) const
    {
        Decision out;
        out.text = text_of(*decision.condition, log_.ast());
        out.taken = decision.taken;
        out.in_loop = decision.in_loop;
        Fields fields;
        Fields asked_by_callees;
        collect_fields_of_callees(decision.condition, asked_by_callees);
        collect_fields(decision.condition, fields);
        fields.insert(asked_by_callees.begin(), asked_by_callees.end());
        for (const FieldDecl* field : fields) {
            const bool object =
                field->getType()->isPointerType() && !field->getType()->isFunctionPointerType();
            if (const auto known = flags.find(field); known != flags.end() && !object)
                out.flags.emplace(member_key(*field), known->second);
        }
        out.opaque = (has_call(decision.condition) && asked_by_callees.empty()) || fields.empty();
        return out;
    }

    std::vector<Decision> describe_all(const std::vector<PathDecision>& decisions) const
    {
        constexpr std::size_t most = 40;
        std::vector<Decision> out;
        for (const PathDecision& decision : decisions) {
            if (!decision.in_loop && out.size() < most)
                out.push_back(describe(decision, {}));
        }
        return out;
    }

    /// The conditions of the preprocessor inside the body of the function around a call. A condition whose
    /// other branch also gives the member back is none.
    std::vector<std::string> preprocessor_around(const Stmt& call, const StackFrameContext* frame,
                                                 const FieldDecl& field) const
    {
        std::vector<std::string> out;
        const PreprocessorRecord* record = log_.preprocessor;
        const auto* function = dyn_cast<FunctionDecl>(frame->getDecl());
        if (!record || !function || !function->getBody())
            return out;
        const SourceManager& sources = log_.ast().getSourceManager();
        const SourceLocation body = sources.getFileLoc(function->getBody()->getBeginLoc());
        for (const ConditionalBranch* branch : record->around(call_location(call), sources)) {
            if (!sources.isBeforeInTranslationUnit(body, branch->group))
                continue;
            if (!other_branch_releases(*branch, field))
                out.push_back(branch->condition);
        }
        return out;
    }

    bool other_branch_releases(const ConditionalBranch& branch, const FieldDecl& field) const
    {
        const SourceManager& sources = log_.ast().getSourceManager();
        for (const ConditionalBranch& other : log_.preprocessor->branches) {
            if (other.group != branch.group || other.begin == branch.begin || other.end.isInvalid())
                continue;
            const StringRef text = Lexer::getSourceText(CharSourceRange::getCharRange(other.begin, other.end),
                                                        sources, log_.ast().getLangOpts());
            if (text.contains(field.getName()))
                return true;
        }
        return false;
    }

    void collect_pins(const PathEnd& end)
    {
        for (const PinAtEnd& pin : end.pins) {
            if (!pin.holder || pin.state.status == PinStatus::released || !pin.state.site)
                continue;
            const bool foreign = pin.state.status == PinStatus::foreign;
            if (foreign && !knows_foreign_code())
                continue;
            if (++variants_[{pin.state.site, pin.holder}] > most_variants)
                continue;
            const PinSite& site = *pin.state.site;
            PinnedMember fact;
            fact.member = member_key(*pin.holder);
            fact.record = record_key(pin.holder->getParent());
            fact.family = site.api->family;
            fact.api = site.api->name;
            const Stmt& place = place_for(pin.holder->getParent(), site.frame, *site.call);
            fact.location = locate(log_.ast().getSourceManager(), call_location(place));
            fact.function = function_id(function_);
            fact.function_record = method_record(function_);
            fact.in_constructor = isa<CXXConstructorDecl>(&function_);
            fact.registers_foreign_memory = site.api->kind == ApiKind::pin_argument;
            fact.foreign = foreign;
            if (pin.memory_holder)
                fact.memory_member = member_key(*pin.memory_holder);
            fact.flags = pin.flags;
            fact.decisions = describe_all(log_.decisions_before(end.node));
            fact.preprocessor = preprocessor_around(*site.call, site.frame, *pin.holder);
            log_.facts().pinned.push_back(std::move(fact));
        }
    }

    /// True if the function names the answer that means "someone else has registered this memory".
    bool knows_foreign_code() const
    {
        const StringRef text =
            Lexer::getSourceText(CharSourceRange::getTokenRange(function_.getSourceRange()),
                                 log_.ast().getSourceManager(), log_.ast().getLangOpts());
        return text.contains("AlreadyRegistered") || text.contains("ALREADY_REGISTERED");
    }

    static bool released_at(const PathEnd& end, const FieldDecl& field)
    {
        return std::any_of(end.pins.begin(), end.pins.end(), [&](const PinAtEnd& pin) {
            return pin.state.status == PinStatus::released && origin_field(pin.memory) == &field;
        });
    }

    void collect_releases()
    {
        std::map<const FieldDecl*, std::vector<const MemberRelease*>> by_field;
        for (const MemberRelease& release : log_.releases)
            by_field[release.field].push_back(&release);
        for (const auto& [field, releases] : by_field) {
            bool always = !log_.ends.empty();
            std::map<std::string, std::size_t> misses;
            for (const PathEnd& end : log_.ends) {
                if (released_at(end, *field) || end.known_null.contains(field))
                    continue;
                if (add_missed(end, *field, releases))
                    always = false;
            }
            std::map<const Stmt*, std::size_t> count;
            for (const MemberRelease* release : releases) {
                if (++count[release->call] <= 2)
                    add_release(*release, always);
            }
        }
    }

    bool add_missed(const PathEnd& end, const FieldDecl& field,
                    const std::vector<const MemberRelease*>& releases)
    {
        const std::vector<PathDecision> decisions = log_.decisions_before(end.node);
        std::vector<PathDecision> parting;
        const MemberRelease* missed = nullptr;
        for (const PathDecision& decision : decisions) {
            if (decision.in_loop)
                continue;
            for (const MemberRelease* release : releases) {
                const bool other_way = std::any_of(
                    release->decisions.begin(), release->decisions.end(), [&](const PathDecision& way) {
                        return way.terminator == decision.terminator && way.frame == decision.frame &&
                               way.taken != decision.taken;
                    });
                if (other_way && leads_to(decision.frame, release->frame)) {
                    parting.push_back(decision);
                    missed = release;
                    break;
                }
            }
        }
        for (const PathDecision& decision : parting) {
            Fields asked;
            collect_fields(decision.condition, asked);
            collect_fields_of_callees(decision.condition, asked);
            if (asked.contains(&field))
                return false;  // a null check, or as good as one
        }
        if (!missed || missed->api->kind != ApiKind::release)
            return !parting.empty();
        MissedRelease fact;
        fact.member = member_key(field);
        fact.record = record_key(field.getParent());
        fact.family = missed->api->family;
        fact.location = locate(log_.ast().getSourceManager(),
                               call_location(place_for(field.getParent(), missed->frame, *missed->call)));
        fact.function = function_id(function_);
        fact.function_record = method_record(function_);
        fact.in_destructor = isa<CXXDestructorDecl>(&function_);
        fact.answers_error = end.answer == Answer::negative || end.answer == Answer::other;
        for (const PathDecision& decision : parting)
            fact.decisions.push_back(describe(decision, end.entry_flags));
        for (const Decision& decision : fact.decisions)
            fact.flags.insert(decision.flags.begin(), decision.flags.end());
        if (++missed_variants_[fact.member] <= most_variants)
            log_.facts().missed.push_back(std::move(fact));
        return true;
    }

    /// True if `inner` is `outer` or was called from it.
    static bool leads_to(const StackFrameContext* outer, const StackFrameContext* inner)
    {
        for (const LocationContext* at = inner; at; at = at->getParent()) {
            if (at == outer)
                return true;
        }
        return false;
    }

    void add_release(const MemberRelease& release, bool always)
    {
        ReleasedMember fact;
        fact.member = member_key(*release.field);
        fact.record = record_key(release.field->getParent());
        fact.family = release.api->family;
        fact.api = release.api->name;
        fact.is_free = release.api->kind != ApiKind::release;
        fact.location =
            locate(log_.ast().getSourceManager(),
                   call_location(place_for(release.field->getParent(), release.frame, *release.call)));
        fact.function = function_id(function_);
        fact.function_record = method_record(function_);
        fact.in_destructor = isa<CXXDestructorDecl>(&function_);
        fact.after_sync = release.after_sync;
        fact.always = always;
        fact.decisions = describe_all(release.decisions);
        for (const PathEnd& end : log_.ends) {
            if (!released_at(end, *release.field))
                continue;
            for (const PathDecision& decision : release.decisions) {
                const Decision described = describe(decision, end.entry_flags);
                fact.flags.insert(described.flags.begin(), described.flags.end());
            }
            break;
        }
        fact.preprocessor = preprocessor_around(*release.call, release.frame, *release.field);
        log_.facts().released.push_back(std::move(fact));
    }

    void add_in_flight(const FieldDecl& field)
    {
        if (!in_flight_.insert(&field).second)
            return;
        log_.facts().in_flight.push_back({member_key(field), record_key(field.getParent()),
                                          locate(log_.ast().getSourceManager(), function_.getLocation()),
                                          function_id(function_), method_record(function_)});
    }

    PathLog& log_;
    const FunctionDecl& function_;
    std::map<std::pair<const PinSite*, const FieldDecl*>, std::size_t> variants_;
    std::map<std::string, std::size_t> missed_variants_;
    Fields in_flight_;
};

}  // namespace

void collect_member_facts(PathLog& log)
{
    MemberFacts(log).collect();
}

}  // namespace pinwarden::scan
