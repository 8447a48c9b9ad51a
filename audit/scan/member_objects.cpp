// SPDX-License-Identifier: Apache-2.0
#include "member_objects.hpp"

namespace pinwarden::scan {
namespace {

using namespace clang;
using namespace clang::ento;

constexpr unsigned deepest = 3;

void visit_record(const RecordDecl* record, const SubRegion* object, MemRegionManager& regions,
                  const MemberVisitor& visit, unsigned depth)
{
    record = record ? record->getDefinition() : nullptr;
    if (!record || depth == deepest)
        return;
    if (const auto* derived = dyn_cast<CXXRecordDecl>(record)) {
        for (const CXXBaseSpecifier& base : derived->bases()) {
            const CXXRecordDecl* parent = base.getType()->getAsCXXRecordDecl();
            if (parent && parent->hasDefinition() && !base.isVirtual())
                visit_record(parent, regions.getCXXBaseObjectRegion(parent, object, false), regions, visit,
                             depth + 1);
        }
    }
    for (const FieldDecl* field : record->fields()) {
        if (field->getType()->isDependentType())
            continue;
        const FieldRegion* region = regions.getFieldRegion(field, object);
        visit(*field, *region);
        if (const RecordDecl* inner = field->getType()->getAsRecordDecl())
            visit_record(inner, region, regions, visit, depth + 1);
    }
}

}  // namespace

void for_each_outer_member(const ProgramStateRef& state, const LocationContext* frame, SValBuilder& values,
                           const MemberVisitor& visit)
{
    while (frame->getParent())
        frame = frame->getParent();
    const auto* function = dyn_cast<FunctionDecl>(frame->getDecl());
    if (!function)
        return;
    MemRegionManager& regions = values.getRegionManager();
    const auto visit_object = [&](SVal pointer, const RecordDecl* record) {
        const MemRegion* object = pointer.getAsRegion();
        const auto* plain = dyn_cast_or_null<SubRegion>(object ? object->StripCasts() : nullptr);
        if (!plain || !record)
            return;
        visit_record(record, plain, regions, visit, 0);
        // A pointer that was loaded names the same object as the first element of what it points to.
        ASTContext& ast = values.getContext();
        const ElementRegion* first =
            regions.getElementRegion(ast.getRecordType(record), values.makeZeroArrayIndex(), plain, ast);
        visit_record(record, first, regions, visit, 0);
    };
    const auto* method = dyn_cast<CXXMethodDecl>(function);
    if (method && !method->isStatic())
        visit_object(state->getSVal(values.getCXXThis(method, frame->getStackFrame())), method->getParent());
    for (const ParmVarDecl* parameter : function->parameters()) {
        const QualType type = parameter->getType();
        if (type->isPointerType() || type->isReferenceType())
            visit_object(state->getSVal(state->getRegion(parameter, frame)),
                         type->getPointeeType()->getAsRecordDecl());
    }
}

}  // namespace pinwarden::scan
