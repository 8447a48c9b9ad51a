// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "path_log.hpp"

#include <clang/Frontend/CompilerInstance.h>

/// Drives the static analyzer's engine over single functions, in this process and over a tree that exists
/// already.
namespace pinwarden::scan {

/// Follows the paths of each function and lets the path-sensitive rules watch. Gives back how many were
/// followed.
unsigned follow_paths(clang::CompilerInstance& compiler,
                      const std::vector<const clang::FunctionDecl*>& functions, PathLog& log);

}  // namespace pinwarden::scan
