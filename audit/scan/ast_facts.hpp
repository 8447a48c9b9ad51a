// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "facts.hpp"
#include "holes.hpp"
#include "preprocessor_record.hpp"

#include <clang/Frontend/CompilerInstance.h>

/// Facts that the tree alone tells, without following paths.
namespace pinwarden::scan {

struct AstFactsInput {
    clang::CompilerInstance& compiler;
    const ApiTable& apis;
    const PreprocessorRecord& preprocessor;
    const Holes& holes;
    bool report_raw_pins = false;
};

/// Adds records, functions, callbacks, sources of members, and the findings of `raw-pin`.
void collect_ast_facts(const AstFactsInput& input, std::vector<Finding>& findings, FileFacts& facts);

}  // namespace pinwarden::scan
