// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyse.hpp"

#include <string>
#include <vector>

/// The command line that makes clang read a file as this analysis needs it.
namespace pinwarden::scan {

/// The compiler's arguments for a request, compiler and file included. CUDA is read for the host only;
/// without a toolkit, and without libraries at all, headers in memory stand in.
std::vector<std::string> command_line(const AnalyseRequest& request);

}  // namespace pinwarden::scan
