// SPDX-License-Identifier: Apache-2.0
#include "reach.hpp"

#include "source.hpp"

#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Basic/SourceManager.h>

#include <algorithm>
#include <map>
#include <set>

namespace pinwarden::scan {
namespace {

using namespace clang;

/// Callers further away than this see nothing of the pin: the engine does not inline that deep.
constexpr unsigned farthest = 2;

bool matters(const ApiTable& apis, const FunctionDecl* function)
{
    for (const Api& api : apis_of(apis, function)) {
        if (is_pin(api.kind) || api.kind == ApiKind::release || api.kind == ApiKind::copy_async)
            return true;
    }
    return false;
}

class CallGraph : public RecursiveASTVisitor<CallGraph> {
public:
    CallGraph(const ApiTable& apis, ASTContext& ast) : apis_(apis), sources_(ast.getSourceManager()) {}

    bool shouldVisitTemplateInstantiations() const { return true; }
    bool shouldVisitImplicitCode() const { return false; }

    bool TraverseDecl(Decl* declaration)
    {
        if (declaration && !isa<TranslationUnitDecl>(declaration) &&
            sources_.isInSystemHeader(declaration->getLocation()))
            return true;
        FunctionDecl* before = current_;
        if (auto* function = dyn_cast_or_null<FunctionDecl>(declaration))
            enter(function);
        const bool go_on = RecursiveASTVisitor::TraverseDecl(declaration);
        current_ = before;
        return go_on;
    }

    bool VisitLambdaExpr(LambdaExpr* lambda)
    {
        FunctionDecl* body = lambda->getCallOperator();
        if (current_ && body && !body->isDependentContext()) {
            FunctionDecl* outer = current_;
            enter(body);
            current_ = outer;
        }
        return true;
    }

    bool VisitCallExpr(CallExpr* call)
    {
        const FunctionDecl* callee = call->getDirectCallee();
        add_call(callee);
        if (const Api* api = api_of_kind(apis_, callee, ApiKind::free_memory))
            add_free(argument_of(*call, api->argument));
        return true;
    }

    bool VisitCXXDeleteExpr(CXXDeleteExpr* deletion)
    {
        add_free(deletion->getArgument());
        return true;
    }

    bool VisitCXXConstructExpr(CXXConstructExpr* made)
    {
        add_call(made->getConstructor());
        add_call(made->getConstructor()->getParent()->getDestructor());
        return true;
    }

    bool VisitDeclRefExpr(DeclRefExpr* name)
    {
        // A function that is named without being called, as a deleter or a table entry, is close enough.
        if (const auto* function = dyn_cast<FunctionDecl>(name->getDecl()))
            add_call(function);
        return true;
    }

    std::vector<const FunctionDecl*> reaching()
    {
        add_frees_of_pinning_records();
        std::map<const FunctionDecl*, unsigned> distance;
        std::vector<const FunctionDecl*> work(direct_.begin(), direct_.end());
        for (const FunctionDecl* function : work)
            distance[function] = 0;
        while (!work.empty()) {
            std::vector<const FunctionDecl*> next;
            for (const FunctionDecl* function : work) {
                const auto callers = callers_.find(function);
                if (callers == callers_.end() || distance[function] == farthest)
                    continue;
                for (const FunctionDecl* caller : callers->second) {
                    if (distance.emplace(caller, distance[function] + 1).second)
                        next.push_back(caller);
                }
            }
            work = std::move(next);
        }
        std::vector<const FunctionDecl*> out;
        for (const FunctionDecl* function : order_) {
            if (distance.contains(function->getCanonicalDecl()))
                out.push_back(function);
        }
        return out;
    }

private:
    void enter(FunctionDecl* function)
    {
        const bool device = (function->hasAttr<CUDADeviceAttr>() && !function->hasAttr<CUDAHostAttr>()) ||
                            function->hasAttr<CUDAGlobalAttr>();
        if (!function->doesThisDeclarationHaveABody() || function->isDependentContext() || device ||
            function->isDefaulted() || function->getReturnType()->isUndeducedType()) {
            if (function->doesThisDeclarationHaveABody())
                current_ = nullptr;
            return;
        }
        current_ = function;
        if (seen_.insert(function->getCanonicalDecl()).second)
            order_.push_back(function);
    }

    /// Remembers a function that gives the memory of a member back to an ordinary allocator.
    void add_free(const Expr* argument)
    {
        const FieldDecl* field = argument ? root_field(argument) : nullptr;
        if (current_ && field)
            frees_.emplace_back(current_->getCanonicalDecl(), field->getParent()->getCanonicalDecl());
    }

    /// Such a function matters if others pin into objects of the same record.
    void add_frees_of_pinning_records()
    {
        std::set<const Decl*> records;
        for (const FunctionDecl* function : direct_) {
            if (const auto* method = dyn_cast<CXXMethodDecl>(function))
                records.insert(method->getParent()->getCanonicalDecl());
            for (const ParmVarDecl* parameter : function->parameters()) {
                const QualType pointee = parameter->getType()->getPointeeType();
                const RecordDecl* record = pointee.isNull() ? nullptr : pointee->getAsRecordDecl();
                if (record)
                    records.insert(record->getCanonicalDecl());
            }
        }
        for (const auto& [function, record] : frees_) {
            if (records.contains(record))
                direct_.insert(function);
        }
    }

    void add_call(const FunctionDecl* callee)
    {
        if (!current_ || !callee)
            return;
        callers_[callee->getCanonicalDecl()].insert(current_->getCanonicalDecl());
        if (matters(apis_, callee))
            direct_.insert(current_->getCanonicalDecl());
    }

    const ApiTable& apis_;
    const SourceManager& sources_;
    FunctionDecl* current_ = nullptr;
    std::vector<const FunctionDecl*> order_;
    std::set<const FunctionDecl*> seen_;
    std::set<const FunctionDecl*> direct_;
    std::vector<std::pair<const FunctionDecl*, const Decl*>> frees_;
    std::map<const FunctionDecl*, std::set<const FunctionDecl*>> callers_;
};

}  // namespace

std::vector<const FunctionDecl*> functions_reaching(const ApiTable& apis, ASTContext& ast)
{
    CallGraph graph(apis, ast);
    graph.TraverseDecl(ast.getTranslationUnitDecl());
    return graph.reaching();
}

}  // namespace pinwarden::scan
