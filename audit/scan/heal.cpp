// SPDX-License-Identifier: Apache-2.0
#include "heal.hpp"

#include <clang/AST/ExprCXX.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/AST/StmtCXX.h>
#include <clang/Basic/SourceManager.h>

#include <map>
#include <vector>

namespace pinwarden::scan {
namespace {

using namespace clang;

bool is_broken(const Expr* expression)
{
    const QualType type = expression->getType();
    return type.isNull() || expression->containsErrors() || expression->isTypeDependent() ||
           expression->isValueDependent() || type->isDependentType() || type->isUndeducedType();
}

bool is_usable(QualType type)
{
    return !type.isNull() && !type->isDependentType() && !type->isUndeducedType() &&
           !type->isPlaceholderType() && !type->isFunctionType() && !type->isArrayType() &&
           (type->isVoidType() || !type->isIncompleteType());
}

/// True for a jump to a label that the rest of the function does not have: it leads nowhere, and the engine falls.
bool is_lost_jump(const Stmt* where)
{
    const auto* jump = dyn_cast<GotoStmt>(where);
    return jump && !jump->getLabel()->getStmt();
}

class Healer {
public:
    explicit Healer(Sema& sema) : sema_(sema), ast_(sema.getASTContext()) {}

    void heal_body(FunctionDecl& function)
    {
        returned_ = function.getReturnType();
        heal_children(*function.getBody());
    }

private:
    void heal_children(Stmt& statement)
    {
        for (Stmt*& child : statement.children()) {
            if (!child)
                continue;
            if (auto* expression = dyn_cast<Expr>(child)) {
                const bool is_result = isa<ReturnStmt>(statement);
                child = heal(expression, is_result && is_usable(returned_) && !returned_->isVoidType()
                                             ? returned_
                                             : QualType());
            } else if (auto* declaration = dyn_cast<DeclStmt>(child)) {
                heal_declaration(*declaration);
            } else if (auto* loop = dyn_cast<CXXForRangeStmt>(child)) {
                child = heal_loop(*loop);
            } else if (is_lost_jump(child)) {
                child = new (ast_) NullStmt(child->getBeginLoc());
            } else {
                heal_children(*child);
            }
        }
    }

    void heal_declaration(DeclStmt& statement)
    {
        for (Decl* declaration : statement.decls()) {
            if (auto* variable = dyn_cast<VarDecl>(declaration))
                heal_variable(*variable);
        }
    }

    void heal_variable(VarDecl& variable)
    {
        const QualType type = variable.getType();
        if (type->isDependentType() || type->isUndeducedType()) {
            // Without knowing better: a number, or a pointer to anything where the star was written.
            const bool pointer = type->isPointerType();
            variable.setType(pointer ? ast_.VoidPtrTy : ast_.IntTy);
        }
        variable.setInvalidDecl(false);
        if (!variable.hasInit() || isa<ParmVarDecl>(variable))
            return;
        Expr* init = variable.getInit();
        if (!is_broken(init)) {
            heal_children(*init);
            return;
        }
        const QualType wanted = variable.getType();
        Expr* healed =
            wanted->isReferenceType() ? nullptr : heal(init, is_usable(wanted) ? wanted : QualType());
        if (healed && wanted->isScalarType())
            healed = converted(healed, wanted);
        const bool fits =
            healed && (wanted->isScalarType() || ast_.hasSameUnqualifiedType(healed->getType(), wanted));
        variable.setInit(fits ? healed : wanted->isReferenceType() ? unknown({}, wanted) : nullptr);
    }

    /// A loop over a range that did not parse becomes a loop of unknown length.
    Stmt* heal_loop(CXXForRangeStmt& loop)
    {
        if (loop.getBeginStmt() && loop.getRangeInit() && !is_broken(loop.getRangeInit())) {
            heal_children(loop);
            return &loop;
        }
        std::vector<Stmt*> body;
        if (VarDecl* variable = loop.getLoopVariable()) {
            const QualType type = variable->getType();
            if (type->isDependentType() || type->isUndeducedType())
                variable->setType(ast_.VoidPtrTy);
            else if (type->isReferenceType())
                variable->setType(type.getNonReferenceType());
            variable->setInvalidDecl(false);
            variable->setInit(variable->getType()->isScalarType() ? unknown({}, variable->getType())
                                                                  : nullptr);
            body.push_back(loop.getLoopVarStmt());
        }
        heal_children(*loop.getBody());
        body.push_back(loop.getBody());
        const SourceLocation at = loop.getBeginLoc();
        auto* block = CompoundStmt::Create(ast_, body, FPOptionsOverride(), at, loop.getEndLoc());
        return WhileStmt::Create(ast_, nullptr, unknown({}, ast_.IntTy), block, at, at, at);
    }

    Expr* heal(Expr* expression, QualType wanted = {})
    {
        if (!is_broken(expression)) {
            heal_children(*expression);
            return expression;
        }
        place_ = expression->getExprLoc();
        if (auto* inner = same_value(*expression))
            return heal(inner, wanted);
        if (auto* operation = dyn_cast<BinaryOperator>(expression))
            return heal_binary(*operation);
        if (auto* operation = dyn_cast<UnaryOperator>(expression)) {
            Expr* operand = heal(operation->getSubExpr());
            if (is_usable(operand->getType())) {
                const ExprResult built =
                    sema_.BuildUnaryOp(nullptr, operation->getOperatorLoc(), operation->getOpcode(), operand);
                if (built.isUsable() && !is_broken(built.get()))
                    return built.get();
            }
            return unknown({operand}, wanted);
        }
        if (auto* call = dyn_cast<CallExpr>(expression))
            return heal_call(*call, wanted);
        if (auto* name = dyn_cast<DeclRefExpr>(expression)) {
            auto* variable = dyn_cast<VarDecl>(name->getDecl());
            if (variable && is_usable(variable->getType().getNonReferenceType()))
                return sema_.BuildDeclRefExpr(variable, variable->getType().getNonReferenceType(), VK_LValue,
                                              name->getLocation());
        }
        std::vector<Expr*> parts;
        collect_parts(*expression, parts);
        const QualType own = expression->getType();
        return unknown(parts, wanted.isNull() && is_usable(own) ? own : wanted);
    }

    /// The expression inside one that only wraps or converts it.
    static Expr* same_value(Expr& expression)
    {
        if (auto* parenthesis = dyn_cast<ParenExpr>(&expression))
            return parenthesis->getSubExpr();
        if (auto* cleanup = dyn_cast<ExprWithCleanups>(&expression))
            return cleanup->getSubExpr();
        if (auto* temporary = dyn_cast<MaterializeTemporaryExpr>(&expression))
            return temporary->getSubExpr();
        if (auto* bound = dyn_cast<CXXBindTemporaryExpr>(&expression))
            return bound->getSubExpr();
        if (auto* cast = dyn_cast<CastExpr>(&expression))
            return cast->getSubExpr();
        return nullptr;
    }

    Expr* heal_binary(BinaryOperator& operation)
    {
        Expr* left = heal(operation.getLHS());
        const QualType target =
            operation.isAssignmentOp() && is_usable(left->getType()) ? left->getType() : QualType();
        Expr* right = heal(operation.getRHS(), target.isNull() ? left->getType() : target);
        const QualType result =
            operation.isComparisonOp() || operation.isLogicalOp() ? ast_.IntTy : QualType();
        if (!is_usable(left->getType()) || !is_usable(right->getType()))
            return unknown({left, right}, result);
        const ExprResult built =
            sema_.BuildBinOp(nullptr, operation.getOperatorLoc(), operation.getOpcode(), left, right);
        if (built.isUsable() && !is_broken(built.get()))
            return built.get();
        return unknown({left, right}, result);
    }

    Expr* heal_call(CallExpr& call, QualType wanted)
    {
        std::vector<Expr*> arguments;
        for (Expr* argument : call.arguments())
            arguments.push_back(heal(argument));
        Expr* callee = call.getCallee()->IgnoreParens();
        FunctionDecl* function = nullptr;
        if (auto* lookup = dyn_cast<UnresolvedLookupExpr>(callee)) {
            for (NamedDecl* candidate : lookup->decls()) {
                auto* plain = dyn_cast<FunctionDecl>(candidate->getUnderlyingDecl());
                if (plain && plain->getMinRequiredArguments() <= arguments.size() &&
                    plain->getNumParams() >= arguments.size())
                    function = plain;
            }
        } else if (auto* named = dyn_cast<DeclRefExpr>(callee->IgnoreParenImpCasts())) {
            function = dyn_cast<FunctionDecl>(named->getDecl());
        }
        if (function && !function->getType()->isDependentType() &&
            !function->getReturnType()->isUndeducedType()) {
            for (std::size_t i = 0; i < arguments.size() && i < function->getNumParams(); ++i) {
                const QualType type = function->getParamDecl(static_cast<unsigned>(i))->getType();
                if (type->isScalarType())
                    arguments[i] = converted(arguments[i], type);
            }
            Expr* name =
                sema_.BuildDeclRefExpr(function, function->getType(), VK_LValue, callee->getExprLoc());
            const ExprResult built =
                sema_.BuildCallExpr(nullptr, name, call.getBeginLoc(), arguments, call.getRParenLoc());
            if (built.isUsable() && !is_broken(built.get()))
                return built.get();
        }
        if (auto* member = dyn_cast<MemberExpr>(callee); member && !is_broken(member->getBase()))
            arguments.push_back(member->getBase());
        return unknown(arguments, wanted);
    }

    /// Gathers what parsed inside an expression that did not.
    void collect_parts(Expr& expression, std::vector<Expr*>& parts)
    {
        if (isa<LambdaExpr, OverloadExpr>(&expression))
            return;
        for (Stmt* child : expression.children()) {
            auto* part = dyn_cast_or_null<Expr>(child);
            if (part && !isa<OverloadExpr>(part))
                parts.push_back(heal(part));
        }
    }

    /// The expression as a value of a scalar type; something unknown if it cannot be converted.
    Expr* converted(Expr* expression, QualType type)
    {
        type = type.getUnqualifiedType();
        Expr* value = as_value(expression);
        if (!value)
            return unknown({}, type);
        const QualType from = value->getType();
        if (ast_.hasSameUnqualifiedType(from, type))
            return value;
        CastKind kind = CK_BitCast;
        if (from->isIntegralOrEnumerationType() && type->isIntegralOrEnumerationType())
            kind = type->isBooleanType() ? CK_IntegralToBoolean : CK_IntegralCast;
        else if (!(from->isAnyPointerType() && type->isAnyPointerType()))
            return is_unknown(value) ? unknown({}, type) : unknown({value}, type);
        return ImplicitCastExpr::Create(ast_, type, kind, value, nullptr, VK_PRValue, FPOptionsOverride());
    }

    static bool is_unknown(const Expr* expression)
    {
        const auto* call = dyn_cast<CallExpr>(expression->IgnoreParenImpCasts());
        const FunctionDecl* callee = call ? call->getDirectCallee() : nullptr;
        return callee && callee->getIdentifier() && callee->getName() == unknown_function_name &&
               call->getNumArgs() == 0;
    }

    /// Loads from what names an object; null for what is no scalar.
    Expr* as_value(Expr* expression)
    {
        const QualType type = expression->getType();
        if (type->isArrayType())
            return ImplicitCastExpr::Create(ast_, ast_.getArrayDecayedType(type), CK_ArrayToPointerDecay,
                                            expression, nullptr, VK_PRValue, FPOptionsOverride());
        if (!is_usable(type) || !type->isScalarType())
            return nullptr;
        if (!expression->isGLValue())
            return expression;
        return ImplicitCastExpr::Create(ast_, type.getUnqualifiedType(), CK_LValueToRValue, expression,
                                        nullptr, VK_PRValue, FPOptionsOverride());
    }

    Expr* unknown(const std::vector<Expr*>& parts, QualType type)
    {
        if (type.isNull() || !is_usable(type.getNonReferenceType()))
            type = ast_.IntTy;
        FunctionDecl* function = function_returning(type);
        std::vector<Expr*> arguments;
        for (Expr* part : parts) {
            if (Expr* value = as_value(part); value && !is_unknown(value))
                arguments.push_back(value);
            else if (!value && isa<CallExpr, CXXConstructExpr>(part) && part->isPRValue() &&
                     part->getType()->isVoidType())
                arguments.push_back(part);
        }
        auto* name = DeclRefExpr::Create(ast_, NestedNameSpecifierLoc(), SourceLocation(), function, false,
                                         place_, function->getType(), VK_LValue);
        auto* callee = ImplicitCastExpr::Create(ast_, ast_.getPointerType(function->getType()),
                                                CK_FunctionToPointerDecay, name, nullptr, VK_PRValue,
                                                FPOptionsOverride());
        const ExprValueKind kind = type->isReferenceType() ? VK_LValue : VK_PRValue;
        return CallExpr::Create(ast_, callee, arguments, type.getNonReferenceType(), kind, place_,
                                FPOptionsOverride());
    }

    FunctionDecl* function_returning(QualType type)
    {
        FunctionDecl*& known = functions_[type.getCanonicalType().getAsOpaquePtr()];
        if (known)
            return known;
        FunctionProtoType::ExtProtoInfo info;
        info.Variadic = true;
        if (ast_.getLangOpts().CPlusPlus)
            info.ExceptionSpec.Type = EST_BasicNoexcept;
        TranslationUnitDecl* unit = ast_.getTranslationUnitDecl();
        known = FunctionDecl::Create(ast_, unit, SourceLocation(), SourceLocation(),
                                     DeclarationName(&ast_.Idents.get(unknown_function_name)),
                                     ast_.getFunctionType(type, {}, info), nullptr, SC_Extern);
        return known;
    }

    Sema& sema_;
    ASTContext& ast_;
    QualType returned_;
    SourceLocation place_;
    std::map<void*, FunctionDecl*> functions_;
};

/// Finds the bodies with holes.
class BrokenBodies : public RecursiveASTVisitor<BrokenBodies> {
public:
    explicit BrokenBodies(const SourceManager& sources) : sources_(sources) {}

    bool shouldVisitTemplateInstantiations() const { return true; }

    bool TraverseDecl(Decl* declaration)
    {
        if (declaration && !isa<TranslationUnitDecl>(declaration) &&
            sources_.isInSystemHeader(declaration->getLocation()))
            return true;
        return RecursiveASTVisitor::TraverseDecl(declaration);
    }

    bool VisitFunctionDecl(FunctionDecl* function)
    {
        if (function->doesThisDeclarationHaveABody() && !function->isDependentContext() &&
            !function->isDefaulted() && function->getBody() && has_holes(function->getBody()))
            found.push_back(function);
        return true;
    }

    std::vector<FunctionDecl*> found;

private:
    static bool has_holes(const Stmt* where)
    {
        if (!where)
            return false;
        if (const auto* expression = dyn_cast<Expr>(where); expression && is_broken(expression))
            return true;
        if (is_lost_jump(where))
            return true;
        if (const auto* statement = dyn_cast<DeclStmt>(where)) {
            for (const Decl* declaration : statement->decls()) {
                const auto* variable = dyn_cast<VarDecl>(declaration);
                if (variable && (variable->isInvalidDecl() || variable->getType()->isUndeducedType() ||
                                 variable->getType()->isDependentType()))
                    return true;
            }
        }
        for (const Stmt* child : where->children()) {
            if (has_holes(child))
                return true;
        }
        return false;
    }

    const SourceManager& sources_;
};

}  // namespace

void heal_errors(Sema& sema)
{
    BrokenBodies bodies(sema.getSourceManager());
    bodies.TraverseDecl(sema.getASTContext().getTranslationUnitDecl());
    Healer healer(sema);
    for (FunctionDecl* function : bodies.found)
        healer.heal_body(*function);
}

}  // namespace pinwarden::scan
