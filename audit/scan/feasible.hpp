// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "path_log.hpp"

#include <vector>

/// Calls that cannot be looked into make the engine forget globals and members, so that it follows paths on
/// which one flag is true here and false there. Rules leave such paths alone.
namespace pinwarden::scan {

/// False if the path needs a flag that the function never changes to have two values.
bool is_feasible(const PathLog& log, const std::vector<PathDecision>& decisions);

/// True if the function hands the variable that holds a pin to a lambda that releases it, whenever that runs.
bool released_by_lambda(const PathLog& log, const PinSite& site);

}  // namespace pinwarden::scan
