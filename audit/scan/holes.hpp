// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <clang/Basic/SourceManager.h>

#include <vector>

/// The statements that did not parse, as text: the tree may have dropped what they do with a pin, so a rule
/// that concludes from something missing asks here first.
namespace pinwarden::scan {

class Holes {
public:
    Holes(const std::vector<clang::SourceLocation>& errors, const clang::SourceManager& sources);

    /// True if a broken statement between the two ends of the range contains the word.
    bool mention(clang::SourceRange range, llvm::StringRef word) const;

    /// True if an error lies inside the range at all.
    bool inside(clang::SourceRange range) const;

private:
    struct Hole {
        clang::FileID file;
        unsigned offset = 0;
        llvm::StringRef text;
    };

    bool contains(clang::SourceRange range, const Hole& hole) const;

    const clang::SourceManager* sources_;
    std::vector<Hole> holes_;
};

}  // namespace pinwarden::scan
