// SPDX-License-Identifier: Apache-2.0
#include "feasible.hpp"
#include "ownership.hpp"
#include "pin_rules.hpp"
#include "source.hpp"

#include <clang/Basic/SourceManager.h>
#include <llvm/ADT/StringSet.h>

#include <algorithm>
#include <array>

namespace pinwarden::scan {
namespace {

using namespace clang;
using namespace clang::ento;

/// Members of the standard library that allocate or call back, and so do throw in practice.
bool library_call_throws(const FunctionDecl& function)
{
    static const llvm::StringSet<> throwing{"push_back",
                                            "emplace_back",
                                            "emplace",
                                            "insert",
                                            "resize",
                                            "reserve",
                                            "assign",
                                            "append",
                                            "substr",
                                            "at",
                                            "stoi",
                                            "stol",
                                            "stoul",
                                            "stof",
                                            "stod",
                                            "to_string",
                                            "make_unique",
                                            "make_shared",
                                            "push",
                                            "emplace_front",
                                            "push_front",
                                            "get_future",
                                            "throw_with_nested"};
    if (const auto* constructor = dyn_cast<CXXConstructorDecl>(&function)) {
        static const llvm::StringSet<> allocating{
            "vector", "basic_string", "string", "map", "unordered_map", "set", "list", "deque", "thread"};
        if (constructor->isDefaultConstructor() || constructor->isMoveConstructor() ||
            constructor->getNumParams() == 0)
            return false;
        return allocating.contains(constructor->getParent()->getName());
    }
    if (function.getOverloadedOperator() == OO_Call) {
        const auto* method = dyn_cast<CXXMethodDecl>(&function);
        return method && method->getParent()->getName() == "function";
    }
    return function.getIdentifier() && throwing.contains(function.getName());
}

bool may_throw(const FunctionDecl& function, const SourceManager& sources)
{
    const auto* type = function.getType()->getAs<FunctionProtoType>();
    if (!type || type->isNothrow() || function.isExternC() || function.hasAttr<NoThrowAttr>() ||
        function.hasAttr<CUDAGlobalAttr>() || function.getBuiltinID() != 0 || function.isNoReturn())
        return false;
    if (isa<CXXDestructorDecl>(&function))
        return false;
    if (sources.isInSystemHeader(function.getLocation()))
        return is_standard(function) && library_call_throws(function);
    return !function.hasBody() && !function.isImplicit();
}

bool inside_try(const Stmt* statement, const LocationContext* frame)
{
    while (frame && statement) {
        const ParentMap& parents = frame->getParentMap();
        const Stmt* child = statement;
        for (const Stmt* at = parents.getParent(statement); at; child = at, at = parents.getParent(at)) {
            const auto* block = dyn_cast<CXXTryStmt>(at);
            if (block && block->getTryBlock() == child)
                return true;
        }
        const StackFrameContext* stack = frame->getStackFrame();
        statement = stack->getCallSite();
        frame = stack->getParent();
    }
    return false;
}

/// An exception that leaves these functions ends the program, or the test, anyway.
bool ends_with_function(const FunctionDecl& function)
{
    const auto* type = function.getType()->getAs<FunctionProtoType>();
    if (function.isMain() || (type && type->isNothrow()))
        return true;
    return function.getIdentifier() && function.getName() == "TestBody";
}

/// True if the function gives back the same memory later, so that the pin is its own business.
bool releases_same_argument(const PathLog& log, const PinSite& site, const FunctionDecl& function)
{
    const auto* pinning = dyn_cast<CallExpr>(site.call);
    const Expr* pinned = pinning ? argument_of(*pinning, site.api->argument) : nullptr;
    if (!pinned || !function.getBody())
        return false;
    const std::string wanted = text_of(*plain(pinned), log.ast());
    std::vector<const Stmt*> work{function.getBody()};
    while (!work.empty()) {
        const Stmt* at = work.back();
        work.pop_back();
        for (const Stmt* child : at->children()) {
            if (child)
                work.push_back(child);
        }
        const auto* call = dyn_cast<CallExpr>(at);
        const Api* api = call ? api_of_kind(log.apis(), call->getDirectCallee(), ApiKind::release) : nullptr;
        if (!api || !ApiTable::compatible(api->family, site.api->family))
            continue;
        const Expr* given = argument_of(*call, api->argument);
        if (given && text_of(*plain(given), log.ast()) == wanted)
            return true;
    }
    return false;
}

/// A pin into a member of the object under construction: its destructor will not run.
bool pinned_by_constructor(const PathLog& log, const PinState& pin, CheckerContext& context)
{
    const auto* constructor = dyn_cast<CXXConstructorDecl>(&log.function());
    if (!constructor || constructor->isDelegatingConstructor() || !pin.site->target)
        return false;
    const CXXDestructorDecl* destructor = constructor->getParent()->getDestructor();
    if (!destructor || !destructor->isUserProvided())
        return false;
    const LocationContext* top = context.getLocationContext();
    while (top->getParent())
        top = top->getParent();
    const Loc self = context.getSValBuilder().getCXXThis(constructor, top->getStackFrame());
    const MemRegion* object = context.getState()->getSVal(self).getAsRegion();
    return object && pin.site->target->isSubRegionOf(object);
}

bool lost_by_throw(const PathLog& log, const PinState& pin, CheckerContext& context)
{
    if (pin.status != PinStatus::live || !pin.site || log.settled.contains(pin.site))
        return false;
    if (!pin.outside)
        return !released_by_lambda(log, *pin.site);
    if (pinned_by_constructor(log, pin, context))
        return true;
    const auto* owner = dyn_cast<FunctionDecl>(pin.site->frame->getDecl());
    return pin.site->api->kind == ApiKind::pin_argument && owner &&
           releases_same_argument(log, *pin.site, *owner);
}

/// Members of containers that keep the value they are given. That they may find no memory for it is no mistake that
/// anybody would thank a reader for.
bool collects(const FunctionDecl& function)
{
    static constexpr std::array<StringRef, 8> names{"push_back", "emplace_back", "push_front", "emplace_front",
                                                    "push",      "emplace",      "insert_or_assign", "try_emplace"};
    return isa<CXXMethodDecl>(&function) && function.getIdentifier() &&
           std::find(names.begin(), names.end(), function.getName()) != names.end();
}

/// True if a function of the project is given the pin: whether it owns the pin by the time it throws is its
/// business.
bool is_given(const CallEvent& call, const ProgramStateRef& state, const MemRegion* memory)
{
    const auto* function = dyn_cast_or_null<FunctionDecl>(call.getDecl());
    if (function && is_standard(*function) && !collects(*function))
        return false;
    for (unsigned i = 0; i < call.getNumArgs(); ++i) {
        const std::vector<const MemRegion*> given = reachable_pins(state, call.getArgSVal(i));
        if (std::find(given.begin(), given.end(), memory) != given.end())
            return true;
    }
    return false;
}

/// A throw in a helper that turns error codes into exceptions says nothing about the function that uses it.
bool throws_for_error_code(const CXXThrowExpr& statement, const CheckerContext& context)
{
    if (statement.getThrowLoc().isMacroID())
        return true;
    const StackFrameContext* frame = context.getStackFrame();
    if (!frame->getParent())
        return false;
    const auto* function = dyn_cast<FunctionDecl>(frame->getDecl());
    if (!function)
        return true;
    for (const ParmVarDecl* parameter : function->parameters()) {
        if (parameter->getType()->isEnumeralType())
            return true;
    }
    return false;
}

}  // namespace

void check_may_throw(PathLog& log, const CallEvent& call, CheckerContext& context)
{
    const auto* function = dyn_cast_or_null<FunctionDecl>(call.getDecl());
    const Expr* expression = call.getOriginExpr();
    if (!function || !expression || !context.getLangOpts().CXXExceptions ||
        ends_with_function(log.function()))
        return;
    const ProgramStateRef state = context.getState();
    if (state->get<Pins>().isEmpty())
        return;
    const SourceManager& sources = context.getSourceManager();
    const auto* caller = dyn_cast<FunctionDecl>(context.getStackFrame()->getDecl());
    if (!caller || sources.isInSystemHeader(caller->getLocation()))
        return;
    if (!may_throw(*function, sources) || !apis_of(log.apis(), function).empty() ||
        inside_try(expression, context.getLocationContext()))
        return;
    for (const auto& [memory, pin] : state->get<Pins>()) {
        if (!lost_by_throw(log, pin, context) || (!pin.outside && is_given(call, state, memory)))
            continue;
        log.settled.insert(pin.site);
        log.report("leak-on-throw", Confidence::likely,
                   PathLog::call_in_frame(*pin.site, context.getStackFrame()),
                   "the pin is held by a raw pointer while '" + readable_name(*function) +
                       "' is called, and is lost if that throws",
                   context.getPredecessor(), memory);
    }
}

void check_throw(PathLog& log, const CXXThrowExpr& statement, CheckerContext& context)
{
    if (ends_with_function(log.function()) || inside_try(&statement, context.getLocationContext()) ||
        throws_for_error_code(statement, context))
        return;
    for (const auto& [memory, pin] : context.getState()->get<Pins>()) {
        if (!lost_by_throw(log, pin, context))
            continue;
        log.settled.insert(pin.site);
        log.report("leak", Confidence::certain, PathLog::call_in_frame(*pin.site, context.getStackFrame()),
                   "the pin is lost when the function leaves by an exception", context.getPredecessor(),
                   memory);
    }
    // On the way to the throw nobody needs the pointer any more, so the engine may have dropped it.
    for (const LostPin& lost : context.getState()->get<LostPins>()) {
        if (lost.overwritten || log.settled.contains(lost.site) || released_by_lambda(log, *lost.site))
            continue;
        log.settled.insert(lost.site);
        log.report("leak", Confidence::certain, PathLog::call_in_frame(*lost.site, lost.frame),
                   "the pin is lost when the function leaves by an exception", context.getPredecessor(),
                   lost.site->memory);
    }
}

}  // namespace pinwarden::scan
