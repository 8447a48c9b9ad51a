// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// A name for each finding that stays the same while the code around it changes, so that a report of today can be
/// compared with one of last week.
///
/// It is made of the rule, the name of the file without its folder, the function and the text of the line without
/// its spaces. Findings that agree in all of that are numbered from the top. Lines inserted before, a folder with
/// another name and another indentation leave it as it is.

#include "scan/driver/text_report.hpp"
#include "scan/finding.hpp"

#include <string>
#include <vector>

namespace pinwarden::scan {

/// One fingerprint for each of `findings`, which are sorted by place.
[[nodiscard]] std::vector<std::string> fingerprints_of(const std::vector<Finding>& findings,
                                                       const LinesOf& lines_of);

}  // namespace pinwarden::scan
