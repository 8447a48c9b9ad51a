// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api_table.hpp"
#include "finding.hpp"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/ExprCXX.h>

#include <string>

/// From clang's declarations to the names and places that facts and findings use.
namespace pinwarden::scan {

/// The place a reader looks at: the text in the file, also for what a macro was given as an argument; for
/// what a macro itself contains, the place where the macro is used.
Location locate(const clang::SourceManager& sources, clang::SourceLocation location);

/// Where a call is marked: at the name of the function it calls.
clang::SourceLocation call_location(const clang::Stmt& call);

/// "ns::Class::method", as a reader writes it.
std::string readable_name(const clang::FunctionDecl& function);

/// A name that is the same for one function in every file.
std::string function_id(const clang::FunctionDecl& function);

/// "Record@file:line", or "" for what is no record.
std::string record_key(const clang::RecordDecl* record);

/// "Record@file:line::member".
std::string member_key(const clang::FieldDecl& field);

/// True for the standard library's own functions and members.
bool is_standard(const clang::FunctionDecl& function);

/// The entries of the table for a function; an empty list for any other function.
const std::vector<Api>& apis_of(const ApiTable& table, const clang::FunctionDecl* function);

/// The first entry of that kind, or null.
const Api* api_of_kind(const ApiTable& table, const clang::FunctionDecl* function, ApiKind kind);

/// The pin entry of a function, or null.
const Api* pin_api(const ApiTable& table, const clang::FunctionDecl* function);

/// The argument of a call, or null where the call has fewer.
const clang::Expr* argument_of(const clang::CallExpr& call, int index);

/// Strips casts, parentheses and temporaries that do not change the value.
const clang::Expr* plain(const clang::Expr* expression);

/// The text of an expression with one spelling for one meaning: no spaces, no `this->`.
std::string text_of(const clang::Expr& expression, const clang::ASTContext& context);

/// The field at the root of an expression that names memory of an object: `m_` for `this->m_`,
/// `(void**)&m_[i]`, `m_.data()`; null if there is none.
const clang::FieldDecl* root_field(const clang::Expr* expression);

}  // namespace pinwarden::scan
