// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "facts.hpp"

#include <vector>

/// Puts the facts of all files together and finds what no single file shows.
namespace pinwarden::scan {

/// The findings about members and their classes, and the tentative ones that no other file refutes.
std::vector<Finding> join_facts(const std::vector<FileFacts>& files);

/// Functions that other files must know to be followed rightly: a file that names one of them, and does not
/// define it, has to be analysed again with these calls in its table.
std::vector<Api> wrappers_of(const std::vector<FileFacts>& files);

}  // namespace pinwarden::scan
