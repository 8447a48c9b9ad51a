// SPDX-License-Identifier: Apache-2.0
#include "ast_facts.hpp"

#include "record_facts.hpp"
#include "relevant_facts.hpp"
#include "source.hpp"

#include <clang/AST/RecursiveASTVisitor.h>

#include <algorithm>
#include <set>

namespace pinwarden::scan {
namespace {

using namespace clang;

/// The function that an expression names: itself, its address, or a lambda.
const FunctionDecl* named_function(const Expr* expression)
{
    expression = plain(expression);
    if (const auto* address = dyn_cast_or_null<UnaryOperator>(expression);
        address && address->getOpcode() == UO_AddrOf)
        expression = plain(address->getSubExpr());
    if (const auto* unary = dyn_cast_or_null<UnaryOperator>(expression);
        unary && unary->getOpcode() == UO_Plus)
        expression = plain(unary->getSubExpr());
    if (const auto* conversion = dyn_cast_or_null<CXXMemberCallExpr>(expression))
        expression = plain(conversion->getImplicitObjectArgument());
    if (const auto* name = dyn_cast_or_null<DeclRefExpr>(expression))
        return dyn_cast<FunctionDecl>(name->getDecl());
    if (const auto* lambda = dyn_cast_or_null<LambdaExpr>(expression))
        return lambda->getCallOperator();
    return nullptr;
}

class Visitor : public RecursiveASTVisitor<Visitor> {
public:
    Visitor(const AstFactsInput& input, std::vector<Finding>& findings, FileFacts& facts)
        : input_(input),
          ast_(input.compiler.getASTContext()),
          sources_(ast_.getSourceManager()),
          findings_(findings),
          facts_(facts)
    {}

    bool shouldVisitTemplateInstantiations() const { return true; }

    bool TraverseDecl(Decl* declaration)
    {
        if (declaration && !isa<TranslationUnitDecl>(declaration) &&
            sources_.isInSystemHeader(declaration->getLocation()))
            return true;
        const auto* function = dyn_cast_or_null<FunctionDecl>(declaration);
        if (!function || !function->doesThisDeclarationHaveABody())
            return RecursiveASTVisitor::TraverseDecl(declaration);
        FunctionFact outer = std::exchange(current_, begin(*function));
        const FunctionDecl* outer_function = std::exchange(function_, function);
        const bool go_on = RecursiveASTVisitor::TraverseDecl(declaration);
        finish();
        current_ = std::move(outer);
        function_ = outer_function;
        return go_on;
    }

    bool TraverseLambdaExpr(LambdaExpr* lambda)
    {
        const FunctionDecl* body = lambda->getCallOperator();
        const bool go_on = RecursiveASTVisitor::TraverseLambdaExpr(lambda);
        if (body && body->hasBody()) {
            FunctionFact outer = std::exchange(current_, begin(*body));
            const FunctionDecl* outer_function = std::exchange(function_, body);
            RecursiveASTVisitor::TraverseStmt(lambda->getBody());
            finish();
            current_ = std::move(outer);
            function_ = outer_function;
            current_.calls.push_back(function_id(*body));
        }
        return go_on;
    }

    bool VisitCXXRecordDecl(CXXRecordDecl* record)
    {
        if (record->isThisDeclarationADefinition() && !record->isImplicit() &&
            !record->isDependentContext() && !record->isLambda())
            add_record(*record);
        return true;
    }

    bool VisitRecordDecl(RecordDecl* record)
    {
        if (!isa<CXXRecordDecl>(record) && record->isThisDeclarationADefinition())
            add_record(*record);
        return true;
    }

    bool VisitCallExpr(CallExpr* call)
    {
        const FunctionDecl* callee = call->getDirectCallee();
        if (function_ && callee && !sources_.isInSystemHeader(callee->getLocation()))
            current_.calls.push_back(function_id(*callee));
        for (const Api& api : apis_of(input_.apis, callee))
            visit_api(*call, api);
        if (function_ && !(callee && harmless(*callee))) {
            for (const Expr* argument : call->arguments())
                mention(argument);
        }
        return true;
    }

    bool VisitCXXConstructExpr(CXXConstructExpr* made)
    {
        if (!function_)
            return true;
        if (!sources_.isInSystemHeader(made->getConstructor()->getLocation()))
            current_.calls.push_back(function_id(*made->getConstructor()));
        for (const Expr* argument : made->arguments())
            mention(argument);
        return true;
    }

    bool VisitCXXForRangeStmt(CXXForRangeStmt* loop)
    {
        mention(loop->getRangeInit());
        return true;
    }

    bool VisitVarDecl(VarDecl* variable)
    {
        const QualType type = variable->getType();
        if (variable->hasInit() && !type->isDependentType() &&
            (type->isPointerType() || type->isReferenceType() || type->isRecordType()))
            mention(variable->getInit());
        return true;
    }

    bool VisitCXXConstructorDecl(CXXConstructorDecl* constructor)
    {
        if (!function_ || !constructor->doesThisDeclarationHaveABody() || constructor->isDependentContext())
            return true;
        for (const CXXCtorInitializer* made : constructor->inits()) {
            if (!made->isMemberInitializer() || !made->getInit())
                continue;
            const Expr* value = made->getInit();
            if (const auto* in_class = dyn_cast<CXXDefaultInitExpr>(value))
                value = in_class->getExpr();
            if (value)
                add_assignment(*made->getMember(), *value);
        }
        return true;
    }

    bool VisitReturnStmt(ReturnStmt* statement)
    {
        mention(statement->getRetValue());
        return true;
    }

    bool VisitCXXDeleteExpr(CXXDeleteExpr* deletion)
    {
        add_freed(*deletion->getArgument(), deletion->getBeginLoc());
        mention(deletion->getArgument());
        return true;
    }

    bool VisitBinaryOperator(BinaryOperator* operation)
    {
        if (operation->getOpcode() != BO_Assign || !function_)
            return true;
        if (operation->getRHS()->getType()->isPointerType())
            mention(operation->getRHS());
        const auto* member = dyn_cast<MemberExpr>(plain(operation->getLHS()));
        const auto* field = member ? dyn_cast<FieldDecl>(member->getMemberDecl()) : nullptr;
        if (field)
            add_assignment(*field, *operation->getRHS());
        return true;
    }

private:
    FunctionFact begin(const FunctionDecl& function) const
    {
        FunctionFact fact;
        fact.function = function_id(function);
        if (const auto* method = dyn_cast<CXXMethodDecl>(&function)) {
            fact.record = record_key(method->getParent());
            fact.is_public = method->getAccess() == AS_public;
        }
        fact.location = locate(sources_, function.getLocation());
        fact.exported = function.isExternallyVisible();
        return fact;
    }

    void finish()
    {
        if (const auto* method = dyn_cast_or_null<CXXMethodDecl>(function_); method && method->getBody()) {
            for (const FieldDecl* field : method->getParent()->fields()) {
                if (input_.holes.mention(method->getBody()->getSourceRange(), field->getName()))
                    current_.mentions.push_back(member_key(*field));
            }
        }
        for (std::vector<std::string>* list : {&current_.calls, &current_.mentions, &touched_}) {
            std::sort(list->begin(), list->end());
            list->erase(std::unique(list->begin(), list->end()), list->end());
        }
        for (FlagChange& change : changes_) {
            change.touched = touched_;
            facts_.flag_changes.push_back(std::move(change));
        }
        changes_.clear();
        touched_.clear();
        if (!current_.function.empty())
            facts_.functions.push_back(std::move(current_));
    }

    /// Calls that only read or write what a pointer points to.
    bool harmless(const FunctionDecl& callee) const
    {
        if (api_of_kind(input_.apis, &callee, ApiKind::release) ||
            api_of_kind(input_.apis, &callee, ApiKind::free_memory))
            return false;
        if (!apis_of(input_.apis, &callee).empty() || callee.hasAttr<CUDAGlobalAttr>())
            return true;
        return callee.isExternC() && sources_.isInSystemHeader(callee.getLocation());
    }

    void mention(const Expr* expression)
    {
        if (!function_ || !expression)
            return;
        if (const FieldDecl* field = root_field(expression))
            current_.mentions.push_back(member_key(*field));
    }

    void visit_api(const CallExpr& call, const Api& api)
    {
        const Location place = locate(sources_, call_location(call));
        if (input_.report_raw_pins && (is_pin(api.kind) || api.kind == ApiKind::pin_everything) &&
            really_pins(call, api))
            findings_.push_back({"raw-pin",
                                 Confidence::certain,
                                 place,
                                 "'" + api.name + "' pins memory without a handle that owns the pin",
                                 function_ ? readable_name(*function_) : std::string{},
                                 {}});
        if (api.kind == ApiKind::release) {
            current_.releases.push_back(place);
            current_.release_names.push_back(api.name);
        }
        if (api.kind == ApiKind::sync_all || api.kind == ApiKind::sync_event ||
            api.kind == ApiKind::sync_stream)
            current_.waits = true;
        const Expr* argument = argument_of(call, api.argument);
        if (!argument)
            return;
        const FieldDecl* field = root_field(argument);
        if (field && (is_pin(api.kind) || api.kind == ApiKind::release))
            touched_.push_back(member_key(*field));
        if (api.kind == ApiKind::device_view && field)
            facts_.sources.push_back({member_key(*field), "device-view"});
        if (api.kind == ApiKind::pin_out && field)
            facts_.sources.push_back({member_key(*field), "pin"});
        if (api.kind == ApiKind::pin_out && field && !field->getType()->isPointerType())
            add_element_pin(*field, api, place);
        if (api.kind == ApiKind::callback) {
            if (const FunctionDecl* called = named_function(argument))
                facts_.callbacks.push_back({function_id(*called), place});
        }
        if (api.kind == ApiKind::free_memory)
            add_freed(*argument, call.getBeginLoc());
    }

    void add_element_pin(const FieldDecl& field, const Api& api, const Location& place)
    {
        const auto* method = dyn_cast_or_null<CXXMethodDecl>(function_);
        if (!method)
            return;
        PinnedMember fact;
        fact.member = member_key(field);
        fact.record = record_key(field.getParent());
        fact.family = api.family;
        fact.api = api.name;
        fact.location = place;
        fact.function = function_id(*function_);
        fact.function_record = record_key(method->getParent());
        fact.in_constructor = isa<CXXConstructorDecl>(method);
        fact.by_element = true;
        facts_.pinned.push_back(std::move(fact));
    }

    bool really_pins(const CallExpr& call, const Api& api) const
    {
        if (api.flag_mask == 0)
            return true;
        const Expr* flags = argument_of(call, api.flag_argument);
        Expr::EvalResult value;
        return flags && !flags->isValueDependent() && flags->EvaluateAsInt(value, ast_) &&
               (value.Val.getInt().getZExtValue() & api.flag_mask) != 0;
    }

    void add_freed(const Expr& pointer, SourceLocation at)
    {
        const Expr* what = plain(&pointer);
        const QualType type = what->getType();
        const RecordDecl* record =
            type->isPointerType() ? type->getPointeeType()->getAsRecordDecl() : nullptr;
        if (record && function_)
            facts_.freed_records.push_back(
                {record_key(record), function_id(*function_), locate(sources_, at)});
    }

    void add_assignment(const FieldDecl& field, const Expr& value)
    {
        const QualType type = field.getType();
        const std::string member = member_key(field);
        touched_.push_back(member);
        if (type->isPointerType() && !type->isFunctionPointerType()) {
            const bool null =
                value.isNullPointerConstant(ast_, Expr::NPC_ValueDependentIsNotNull) != Expr::NPCK_NotNull;
            facts_.sources.push_back({member, null ? "null" : source_of(value)});
        }
        if (!type->isIntegralOrEnumerationType() && !type->isPointerType())
            return;
        FlagChange change;
        change.record = record_key(field.getParent());
        change.member = member;
        change.function = function_id(*function_);
        Expr::EvalResult result;
        change.constant = !value.isValueDependent() && value.EvaluateAsInt(result, ast_);
        change.value = change.constant && result.Val.getInt() != 0;
        if (type->isPointerType()) {
            change.constant =
                value.isNullPointerConstant(ast_, Expr::NPC_ValueDependentIsNotNull) != Expr::NPCK_NotNull;
            change.value = false;
        }
        changes_.push_back(std::move(change));
    }

    const char* source_of(const Expr& value) const
    {
        const Expr* what = plain(&value);
        if (isa<CXXNewExpr>(what))
            return "allocated";
        if (const auto* call = dyn_cast<CallExpr>(what)) {
            if (api_of_kind(input_.apis, call->getDirectCallee(), ApiKind::allocate))
                return "allocated";
            return pin_api(input_.apis, call->getDirectCallee()) ? "pin" : "other";
        }
        const auto* name = dyn_cast<DeclRefExpr>(what);
        const auto* variable = name ? dyn_cast<VarDecl>(name->getDecl()) : nullptr;
        return variable && variable->isLocalVarDecl() ? "variable" : "other";
    }

    void add_record(RecordDecl& record)
    {
        if (!record.isInvalidDecl() || record.isCompleteDefinition())
            facts_.records.push_back(describe_record(record, input_));
    }

    const AstFactsInput& input_;
    ASTContext& ast_;
    const SourceManager& sources_;
    std::vector<Finding>& findings_;
    FileFacts& facts_;
    FunctionFact current_;
    const FunctionDecl* function_ = nullptr;
    std::vector<FlagChange> changes_;
    std::vector<std::string> touched_;
};

}  // namespace

void collect_ast_facts(const AstFactsInput& input, std::vector<Finding>& findings, FileFacts& facts)
{
    Visitor visitor(input, findings, facts);
    visitor.TraverseDecl(input.compiler.getASTContext().getTranslationUnitDecl());
    keep_relevant(facts);
}

}  // namespace pinwarden::scan
