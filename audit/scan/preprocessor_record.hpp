// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <clang/Lex/PPCallbacks.h>
#include <clang/Lex/Preprocessor.h>

#include <string>
#include <vector>

/// What the preprocessor did that the tree no longer shows: headers that are missing, and branches not taken.
namespace pinwarden::scan {

/// One branch of an `#if`, from its directive to the next one.
struct ConditionalBranch {
    clang::SourceLocation begin;
    clang::SourceLocation end;
    std::string condition;  ///< "defined(X)", "!(defined(X))" and so on, with one spelling for one meaning
    bool taken = false;
    clang::SourceLocation group;  ///< the `#if` it belongs to
};

struct PreprocessorRecord {
    std::vector<std::string> missing_headers;
    std::vector<ConditionalBranch> branches;

    /// The conditions around a place, outermost first.
    std::vector<const ConditionalBranch*> around(clang::SourceLocation place,
                                                 const clang::SourceManager& sources) const;
};

/// Lets a preprocessor skip headers it cannot find, and keep the record.
void record_preprocessor(clang::Preprocessor& preprocessor, PreprocessorRecord& record);

}  // namespace pinwarden::scan
