// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <clang/Sema/Sema.h>

/// Code that does not parse completely leaves holes in the tree, and the engine gives up at the first hole.
/// Healing puts a call of an unknown function in place of each hole, with the parts that did parse as its
/// arguments: what the hole computes stays unknown, but the code around it, and the pins inside it, can be
/// followed.
namespace pinwarden::scan {

/// The name of the functions that stand for holes.
inline constexpr const char* unknown_function_name = "pinwarden_unknown";

/// Heals the bodies of all functions outside of system headers.
void heal_errors(clang::Sema& sema);

}  // namespace pinwarden::scan
