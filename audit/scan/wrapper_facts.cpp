// SPDX-License-Identifier: Apache-2.0
#include "pin_rules.hpp"
#include "source.hpp"

#include <algorithm>

namespace pinwarden::scan {
namespace {

using namespace clang;
using namespace clang::ento;

bool can_be_called_from_elsewhere(const FunctionDecl& function)
{
    const auto* method = dyn_cast<CXXMethodDecl>(&function);
    return function.isExternallyVisible() && function.getIdentifier() && !function.isMain() && !method &&
           !function.isTemplateInstantiation();
}

/// The parameter whose pointee `target` is: `out` for a store through `*out`.
int parameter_behind(const FunctionDecl& function, const MemRegion* target)
{
    const auto* symbolic = dyn_cast_or_null<SymbolicRegion>(target ? target->StripCasts() : nullptr);
    const auto* value = symbolic ? dyn_cast<SymbolRegionValue>(symbolic->getSymbol()) : nullptr;
    const auto* variable = value ? dyn_cast<VarRegion>(value->getRegion()) : nullptr;
    const auto* parameter = variable ? dyn_cast<ParmVarDecl>(variable->getDecl()) : nullptr;
    const auto* param_region = value ? dyn_cast<ParamVarRegion>(value->getRegion()) : nullptr;
    if (!parameter && param_region)
        parameter = param_region->getDecl();
    if (!parameter)
        return -1;
    for (unsigned i = 0; i < function.getNumParams(); ++i) {
        if (function.getParamDecl(i) == parameter ||
            function.getParamDecl(i)->getName() == parameter->getName())
            return static_cast<int>(i);
    }
    return -1;
}

/// What the function answers when it worked, told apart from what it answers when it did not.
std::optional<Success> success_of(const std::set<Answer>& worked, const std::set<Answer>& failed)
{
    if (worked.size() != 1 || failed.contains(*worked.begin()))
        return std::nullopt;
    const Answer answer = *worked.begin();
    if (answer == Answer::zero)
        return Success::zero;
    if (answer == Answer::other && failed == std::set{Answer::zero})
        return Success::non_zero;
    return answer == Answer::none && failed.empty() ? std::optional(Success::always) : std::nullopt;
}

void collect_pin_wrapper(PathLog& log)
{
    const FunctionDecl& function = log.function();
    std::set<Answer> worked;
    std::set<Answer> failed;
    const PinSite* through = nullptr;
    int argument = -1;
    for (const PathEnd& end : log.ends) {
        const PinAtEnd* pinned = nullptr;
        for (const PinAtEnd& pin : end.pins) {
            if (pin.state.status == PinStatus::live && pin.state.site && pin.state.outside &&
                pin.state.site->api->kind == ApiKind::pin_out)
                pinned = &pin;
        }
        if (!end.lost.empty())
            return;
        if (!pinned) {
            failed.insert(end.answer);
            continue;
        }
        const int behind = parameter_behind(function, pinned->state.site->target);
        if (behind < 0 || (argument >= 0 && behind != argument))
            return;
        argument = behind;
        through = pinned->state.site;
        worked.insert(end.answer);
    }
    if (!through)
        return;
    const QualType type = function.getParamDecl(static_cast<unsigned>(argument))->getType();
    if (!type->isPointerType() && !type->isReferenceType())
        return;
    const std::optional<Success> success = success_of(worked, failed);
    if (!success)
        return;
    Api api = *through->api;
    api.name = function.getQualifiedNameAsString();
    api.argument = argument;
    api.size_argument = -1;
    api.success = *success;
    api.wrapper = true;
    log.facts().wrappers.push_back(std::move(api));
}

void collect_release_wrapper(PathLog& log)
{
    const FunctionDecl& function = log.function();
    std::map<int, const Api*> released;
    std::set<int> mixed;  // parameters that another way gives back to another allocator
    for (const PathEnd& end : log.ends) {
        for (const auto& [memory, place] : end.node->getState()->get<FreedMemory>())
            mixed.insert(parameter_behind(function, memory));
        for (const PinAtEnd& pin : end.pins) {
            const int behind = parameter_behind(function, pin.memory);
            if (behind >= 0 && pin.state.status == PinStatus::released && !pin.state.site &&
                pin.state.change) {
                const auto* call = dyn_cast<CallExpr>(pin.state.change);
                const Api* api =
                    call ? api_of_kind(log.apis(), call->getDirectCallee(), ApiKind::release) : nullptr;
                if (api && released.contains(behind) && released[behind]->family != api->family)
                    mixed.insert(behind);
                if (api)
                    released[behind] = api;
            }
        }
    }
    for (const auto& [index, through] : released) {
        if (mixed.contains(index))
            continue;
        Api api = *through;
        api.name = function.getQualifiedNameAsString();
        api.argument = index;
        api.size_argument = -1;
        api.by_range = false;
        api.wrapper = true;
        log.facts().wrappers.push_back(std::move(api));
    }
}

}  // namespace

void collect_wrapper(PathLog& log)
{
    if (!can_be_called_from_elsewhere(log.function()) || log.ends.empty())
        return;
    collect_pin_wrapper(log);
    collect_release_wrapper(log);
}

}  // namespace pinwarden::scan
