// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api_table.hpp"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>

#include <vector>

/// Finds the functions worth following: those that pin, release or copy, and those that call them.
namespace pinwarden::scan {

/// In the order of the file. Functions of system headers, templates that are not instantiated and device code
/// are left out.
std::vector<const clang::FunctionDecl*> functions_reaching(const ApiTable& apis, clang::ASTContext& ast);

}  // namespace pinwarden::scan
