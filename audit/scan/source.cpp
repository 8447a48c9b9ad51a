// SPDX-License-Identifier: Apache-2.0
#include "source.hpp"

#include <clang/AST/ExprCXX.h>
#include <clang/Basic/FileManager.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Index/USRGeneration.h>
#include <llvm/ADT/SmallString.h>
#include <llvm/Support/Path.h>

namespace pinwarden::scan {
namespace {

const clang::RecordDecl* written_record(const clang::RecordDecl* record)
{
    if (const auto* instance = llvm::dyn_cast<clang::CXXRecordDecl>(record)) {
        if (const clang::CXXRecordDecl* pattern = instance->getTemplateInstantiationPattern())
            return pattern;
    }
    return record;
}

std::string absolute(const clang::SourceManager& sources, llvm::StringRef path)
{
    llvm::SmallString<256> full(path);
    sources.getFileManager().makeAbsolutePath(full);
    llvm::sys::path::remove_dots(full, true);
    return full.str().str();
}

}  // namespace

Location locate(const clang::SourceManager& sources, clang::SourceLocation location)
{
    if (location.isInvalid())
        return {};
    const clang::SourceLocation place = sources.getFileLoc(location);
    const clang::PresumedLoc presumed = sources.getPresumedLoc(place, /*UseLineDirectives=*/false);
    if (presumed.isInvalid())
        return {};
    Location out;
    const bool main = sources.isInMainFile(place);
    out.file = main ? std::string(presumed.getFilename()) : absolute(sources, presumed.getFilename());
    out.line = presumed.getLine();
    out.column = presumed.getColumn();
    return out;
}

clang::SourceLocation call_location(const clang::Stmt& call)
{
    if (const auto* plain_call = llvm::dyn_cast<clang::CallExpr>(&call)) {
        if (llvm::isa<clang::CXXOperatorCallExpr>(plain_call))
            return plain_call->getExprLoc();
        const clang::Expr* callee = plain_call->getCallee()->IgnoreParenImpCasts();
        if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(callee))
            return member->getMemberLoc();
        if (const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(callee))
            return name->getLocation();
        return callee->getExprLoc();
    }
    if (const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(&call))
        return made->getLocation();
    return call.getBeginLoc();
}

std::string readable_name(const clang::FunctionDecl& function)
{
    return function.getQualifiedNameAsString();
}

std::string function_id(const clang::FunctionDecl& function)
{
    const clang::FunctionDecl* written = function.getTemplateInstantiationPattern();
    llvm::SmallString<128> usr;
    if (clang::index::generateUSRForDecl(written ? written : &function, usr))
        return readable_name(function);
    return usr.str().str();
}

std::string record_key(const clang::RecordDecl* record)
{
    if (!record)
        return {};
    record = written_record(record);
    if (const clang::RecordDecl* definition = record->getDefinition())
        record = definition;
    const clang::SourceManager& sources = record->getASTContext().getSourceManager();
    Location at = locate(sources, record->getLocation());
    at.file = absolute(sources, at.file);
    return record->getQualifiedNameAsString() + "@" + at.file + ":" + std::to_string(at.line);
}

std::string member_key(const clang::FieldDecl& field)
{
    return record_key(field.getParent()) + "::" + field.getNameAsString();
}

bool is_standard(const clang::FunctionDecl& function)
{
    for (const clang::DeclContext* at = function.getDeclContext(); at; at = at->getParent()) {
        if (at->isStdNamespace())
            return true;
    }
    return false;
}

const std::vector<Api>& apis_of(const ApiTable& table, const clang::FunctionDecl* function)
{
    static const std::vector<Api> none;
    if (!function || !function->getIdentifier())
        return none;
    const bool plain_name = function->getDeclContext()->getRedeclContext()->isTranslationUnit() ||
                            function->isExternC() || function->isInStdNamespace();
    const std::string name = plain_name ? function->getName().str() : function->getQualifiedNameAsString();
    const std::vector<Api>* found = table.find(name);
    return found ? *found : none;
}

const Api* api_of_kind(const ApiTable& table, const clang::FunctionDecl* function, ApiKind kind)
{
    for (const Api& api : apis_of(table, function)) {
        if (api.kind == kind)
            return &api;
    }
    return nullptr;
}

const Api* pin_api(const ApiTable& table, const clang::FunctionDecl* function)
{
    for (const Api& api : apis_of(table, function)) {
        if (is_pin(api.kind))
            return &api;
    }
    return nullptr;
}

const clang::Expr* argument_of(const clang::CallExpr& call, int index)
{
    if (index < 0 || static_cast<unsigned>(index) >= call.getNumArgs())
        return nullptr;
    return call.getArg(static_cast<unsigned>(index));
}

const clang::Expr* plain(const clang::Expr* expression)
{
    while (expression) {
        const clang::Expr* inner = expression->IgnoreParenCasts()->IgnoreImplicit();
        if (const auto* cleanup = llvm::dyn_cast<clang::ExprWithCleanups>(inner))
            inner = cleanup->getSubExpr();
        if (inner == expression)
            break;
        expression = inner;
    }
    return expression;
}

std::string text_of(const clang::Expr& expression, const clang::ASTContext& context)
{
    std::string text;
    llvm::raw_string_ostream out(text);
    clang::PrintingPolicy policy(context.getLangOpts());
    policy.SuppressImplicitBase = true;
    expression.IgnoreParenImpCasts()->printPretty(out, nullptr, policy);
    out.flush();
    std::erase_if(text, [](char c) { return c == ' ' || c == '\n' || c == '(' || c == ')'; });
    constexpr std::string_view self = "this->";
    for (std::size_t at = text.find(self); at != std::string::npos; at = text.find(self))
        text.erase(at, self.size());
    return text;
}

const clang::FieldDecl* root_field(const clang::Expr* expression)
{
    const clang::FieldDecl* found = nullptr;
    for (expression = plain(expression); expression;) {
        if (const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(expression)) {
            if (unary->getOpcode() != clang::UO_AddrOf && unary->getOpcode() != clang::UO_Deref)
                break;
            expression = plain(unary->getSubExpr());
        } else if (const auto* subscript = llvm::dyn_cast<clang::ArraySubscriptExpr>(expression)) {
            expression = plain(subscript->getBase());
        } else if (const auto* sum = llvm::dyn_cast<clang::BinaryOperator>(expression)) {
            if (!sum->isAdditiveOp())
                break;
            expression = plain(sum->getLHS());
        } else if (const auto* call = llvm::dyn_cast<clang::CXXMemberCallExpr>(expression)) {
            expression = plain(call->getImplicitObjectArgument());
        } else if (const auto* index = llvm::dyn_cast<clang::CXXOperatorCallExpr>(expression)) {
            if (index->getNumArgs() == 0)
                break;
            expression = plain(index->getArg(0));
        } else if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(expression)) {
            if (const auto* field = llvm::dyn_cast<clang::FieldDecl>(member->getMemberDecl())) {
                found = field;
                const clang::Expr* base = plain(member->getBase());
                if (!base || llvm::isa<clang::CXXThisExpr>(base) || member->isArrow())
                    break;
                if (field->getType()->isPointerType())
                    break;
                expression = base;
                continue;
            }
            break;
        } else {
            break;
        }
    }
    return found;
}

}  // namespace pinwarden::scan
