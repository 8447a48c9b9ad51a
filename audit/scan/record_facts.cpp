// SPDX-License-Identifier: Apache-2.0
#include "record_facts.hpp"

#include "source.hpp"

#include <clang/Lex/Lexer.h>
#include <clang/Sema/Sema.h>

#include <algorithm>

namespace pinwarden::scan {
namespace {

using namespace clang;

/// True if the class definition has holes: an error inside it, or a base class that could not be looked up.
bool has_holes(const CXXRecordDecl& record, const AstFactsInput& input)
{
    const SourceManager& sources = input.compiler.getSourceManager();
    if (input.holes.inside(SourceRange(record.getBeginLoc(), record.getEndLoc())))
        return true;
    const StringRef head = Lexer::getSourceText(
        CharSourceRange::getCharRange(sources.getFileLoc(record.getLocation()),
                                      sources.getFileLoc(record.getBraceRange().getBegin())),
        sources, input.compiler.getLangOpts());
    const bool names_base = head.contains(':') && head.count(':') != 2 * head.count("::");
    return names_base && record.getNumBases() == 0;
}

bool is_copy_available(const FunctionDecl& function, AccessSpecifier access)
{
    return !function.isDeleted() && access == AS_public && (function.isImplicit() || function.isDefaulted());
}

bool is_copyable(CXXRecordDecl& record, Sema& sema)
{
    sema.ForceDeclarationOfImplicitMembers(&record);
    for (const CXXConstructorDecl* constructor : record.ctors()) {
        if (constructor->isCopyConstructor() && is_copy_available(*constructor, constructor->getAccess()))
            return true;
    }
    for (const CXXMethodDecl* method : record.methods()) {
        if (method->isCopyAssignmentOperator() && is_copy_available(*method, method->getAccess()))
            return true;
    }
    return false;
}

}  // namespace

RecordFact describe_record(RecordDecl& record, const AstFactsInput& input)
{
    RecordFact fact;
    fact.record = record_key(&record);
    fact.name = record.getQualifiedNameAsString();
    fact.location = locate(input.compiler.getSourceManager(), record.getLocation());
    auto* type = dyn_cast<CXXRecordDecl>(&record);
    if (!type || !input.compiler.getLangOpts().CPlusPlus)
        return fact;
    fact.is_class = std::any_of(type->method_begin(), type->method_end(),
                                [](const CXXMethodDecl* method) { return !method->isImplicit(); });
    fact.unsure |= has_holes(*type, input);
    if (const CXXDestructorDecl* destructor = type->getDestructor();
        destructor && !destructor->isImplicit()) {
        fact.has_destructor = destructor->isUserProvided();
        fact.destructor = function_id(*destructor);
    }
    if (!type->isInvalidDecl() && input.compiler.hasSema())
        fact.copyable = is_copyable(*type, input.compiler.getSema());
    return fact;
}

}  // namespace pinwarden::scan
