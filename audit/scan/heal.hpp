// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <clang/AST/ASTContext.h>

/// Code that does not parse completely leaves holes in the tree, and the engine gives up at the first hole. Healing
/// puts a call of an unknown function in place of each hole, with the parts that did parse as its arguments: what the
/// hole computes stays unknown, but the code around it, and the pins inside it, can be followed.
namespace pinwarden::scan {

void heal_errors(clang::ASTContext& ast);

}  // namespace pinwarden::scan
