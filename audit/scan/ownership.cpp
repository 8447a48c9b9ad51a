// SPDX-License-Identifier: Apache-2.0
#include "ownership.hpp"

#include "heal.hpp"
#include "source.hpp"

#include <clang/AST/DeclTemplate.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace pinwarden::scan {
namespace {

using namespace clang;
using namespace clang::ento;

bool sounds_like_transfer(StringRef name)
{
    static constexpr std::array<StringRef, 22> verbs{
        "add",   "push",     "insert", "set",     "attach", "store",   "enqueue", "wrap",
        "adopt", "take",     "give",   "put",     "free",   "release", "destroy", "delete",
        "own",   "register", "append", "emplace", "return", "track"};
    const std::string lower = name.lower();
    for (const StringRef verb : verbs) {
        const std::size_t at = lower.find(verb.str());
        if (at == std::string::npos)
            continue;
        const bool begins =
            at == 0 || lower[at - 1] == '_' || std::isupper(static_cast<unsigned char>(name[at])) != 0;
        if (begins)
            return true;
    }
    return false;
}

/// True if the function that pinned also releases something of this family, on whatever path: then the pin is
/// its own business, and whoever it calls in between only borrows.
bool releases_itself(const PathLog& log, const PinSite& site)
{
    const auto* owner = dyn_cast<FunctionDecl>(site.frame->getDecl());
    if (!owner || !owner->getBody())
        return false;
    std::vector<const Stmt*> work{owner->getBody()};
    while (!work.empty()) {
        const Stmt* at = work.back();
        work.pop_back();
        for (const Stmt* child : at->children()) {
            if (child)
                work.push_back(child);
        }
        const auto* call = dyn_cast<CallExpr>(at);
        const Api* api = call ? api_of_kind(log.apis(), call->getDirectCallee(), ApiKind::release) : nullptr;
        if (api && ApiTable::compatible(api->family, site.api->family))
            return true;
    }
    return false;
}

/// Functions of the library that only read or write through pointers, or hand values on.
bool passes_through(const FunctionDecl& function)
{
    static constexpr std::array<StringRef, 30> names{
        "move",        "forward",    "swap",          "exchange",    "addressof",   "min",
        "max",         "copy",       "copy_n",        "fill",        "fill_n",      "sort",
        "stable_sort", "accumulate", "reduce",        "transform",   "for_each",    "iota",
        "generate",    "equal",      "find",          "max_element", "min_element", "count",
        "memcpy",      "memset",     "inner_product", "distance",    "advance",     "declval"};
    if (isa<CXXMethodDecl>(&function) || !function.getIdentifier())
        return function.isOverloadedOperator() && !isa<CXXMethodDecl>(&function);
    return std::find(names.begin(), names.end(), function.getName()) != names.end();
}

/// True for members of containers of numbers: a pointer given to them is an iterator.
bool holds_numbers(const FunctionDecl& function)
{
    const auto* method = dyn_cast<CXXMethodDecl>(&function);
    const auto* type = method ? dyn_cast<ClassTemplateSpecializationDecl>(method->getParent()) : nullptr;
    if (!type || type->getTemplateArgs().size() == 0 || type->getName() == "unique_ptr" ||
        type->getName() == "shared_ptr")
        return method && !type;
    const TemplateArgument& first = type->getTemplateArgs()[0];
    return first.getKind() == TemplateArgument::Type && first.getAsType()->isArithmeticType();
}

class PinsIn : public SymbolVisitor {
public:
    explicit PinsIn(ProgramStateRef state) : state_(std::move(state)) {}
    bool VisitSymbol(SymbolRef symbol) override
    {
        for (const auto& [memory, pin] : state_->get<Pins>()) {
            const auto* symbolic = dyn_cast<SymbolicRegion>(memory->getBaseRegion());
            if (symbolic && symbolic->getSymbol() == symbol)
                found.push_back(memory);
        }
        return true;
    }
    std::vector<const MemRegion*> found;

private:
    ProgramStateRef state_;
};

}  // namespace

bool keeps_nothing(const FunctionDecl& function, const CheckerContext& context)
{
    if (function.hasAttr<CUDAGlobalAttr>() || function.getBuiltinID() != 0)
        return true;
    const SourceManager& sources = context.getASTContext().getSourceManager();
    if (const auto* method = dyn_cast<CXXMethodDecl>(&function);
        method && method->getParent()->getName() == "dim3")
        return true;
    if (sources.isInSystemHeader(function.getLocation()))
        return function.isExternC() || is_standard(function);
    if (!function.getIdentifier())
        return false;
    const StringRef name = function.getName().ltrim('_');
    return name.starts_with("cuda") || name.starts_with("hip") || name.starts_with("ibv_") ||
           (name.starts_with("cu") && name.size() > 2 &&
            std::isupper(static_cast<unsigned char>(name[2])) != 0);
}

bool borrows(const PathLog& log, const CallEvent& call, const PinState& pin, SymbolRef memory)
{
    const auto* function = dyn_cast_or_null<FunctionDecl>(call.getDecl());
    if (function) {
        if (api_of_kind(log.apis(), function, ApiKind::callback))
            return false;
        if (!apis_of(log.apis(), function).empty() || function->hasAttr<CUDAGlobalAttr>())
            return true;
    }
    if (call.argumentsMayEscape() || !pin.site)
        return false;
    bool direct = false;
    for (unsigned i = 0; i < call.getNumArgs(); ++i)
        direct |= call.getArgSVal(i).getAsLocSymbol(true) == memory;
    // A pin inside an object that is handed on goes where the object goes.
    if (!direct && function && function->getIdentifier() && sounds_like_transfer(function->getName()))
        return false;
    const bool constructs = isa<CXXConstructorCall>(call);
    if (releases_itself(log, *pin.site) && !constructs)
        return true;
    if (!function || constructs ||
        (function->getIdentifier() && function->getName() == unknown_function_name))
        return false;
    for (unsigned i = 0; i < call.getNumArgs(); ++i) {
        if (call.getArgSVal(i).getAsLocSymbol(true) != memory || i >= function->getNumParams())
            continue;
        const QualType type = function->getParamDecl(i)->getType();
        if (type->isReferenceType() || (type->isPointerType() && type->getPointeeType()->isPointerType()))
            return false;
    }
    const auto* method = dyn_cast<CXXMethodDecl>(function);
    if (method && !method->isStatic())
        return false;
    return function->getIdentifier() && !sounds_like_transfer(function->getName());
}

std::vector<const MemRegion*> taken_by_library(const CallEvent& call, const ProgramStateRef& state)
{
    const auto* function = dyn_cast_or_null<FunctionDecl>(call.getDecl());
    std::vector<const MemRegion*> out;
    if (!function || function->isExternC() || !is_standard(*function) || passes_through(*function))
        return out;
    const bool of_numbers = holds_numbers(*function);
    for (unsigned i = 0; i < call.getNumArgs(); ++i) {
        const SVal value = call.getArgSVal(i);
        const Expr* argument = call.getArgExpr(i);
        if (argument && argument->isGLValue()) {
            if (const MemRegion* place = value.getAsRegion(); place && !isa<SymbolicRegion>(place)) {
                for (const MemRegion* memory : reachable_pins(state, state->getSVal(place)))
                    out.push_back(memory);
            }
        } else if (!of_numbers) {
            for (const MemRegion* memory : reachable_pins(state, value))
                out.push_back(memory);
        }
    }
    return out;
}

std::vector<const MemRegion*> reachable_pins(const ProgramStateRef& state, SVal value)
{
    PinsIn pins(state);
    ScanReachableSymbols scan(state, pins);
    scan.scan(value);
    if (const MemRegion* memory = memory_of(value); memory && state->get<Pins>(memory))
        pins.found.push_back(memory);
    return pins.found;
}

}  // namespace pinwarden::scan
