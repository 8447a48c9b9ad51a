// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

/// What the auditor reports. A finding is plain data: it crosses the border between the process that analyses
/// one file and the process that prints, so that both only share this header.
namespace pinwarden::scan {

/// A position in a source file; lines and columns count from 1, and line 0 means "unknown".
struct Location {
    std::string file;
    unsigned line = 0;
    unsigned column = 0;

    bool operator==(const Location&) const = default;
    auto operator<=>(const Location&) const = default;
};

/// How sure the auditor is that a reader of the code will agree.
enum class Confidence { certain, likely };

/// One step on the way to the defect, in the order of execution.
struct PathNote {
    Location location;
    std::string text;
};

/// One defect: which rule, where, and how to see that it is real.
struct Finding {
    std::string rule;
    Confidence confidence = Confidence::certain;
    Location location;
    std::string message;
    std::string function;
    std::vector<PathNote> notes;
};

/// The word used in reports: "certain" or "likely".
std::string to_string(Confidence confidence);

/// Orders findings for printing and drops repetitions of one rule at one place.
void sort_and_unify(std::vector<Finding>& findings);

void to_json(nlohmann::json& out, const Location& location);
void from_json(const nlohmann::json& in, Location& location);
void to_json(nlohmann::json& out, const Finding& finding);
void from_json(const nlohmann::json& in, Finding& finding);

}  // namespace pinwarden::scan
