// SPDX-License-Identifier: Apache-2.0
#include "holes.hpp"

#include <cctype>

namespace pinwarden::scan {
namespace {

using namespace clang;

/// The statement around an offset: from the last to the next `;`, whatever braces a lambda inside it may
/// have.
StringRef statement_around(StringRef text, unsigned offset)
{
    std::size_t begin = offset;
    while (begin > 0 && text[begin - 1] != ';' && text[begin - 1] != '{' && text[begin - 1] != '}')
        --begin;
    int depth = 0;
    std::size_t end = offset;
    for (; end < text.size(); ++end) {
        const char c = text[end];
        if (c == '{' || c == '(')
            ++depth;
        else if (c == '}' || c == ')')
            --depth;
        else if (c == ';' && depth <= 0)
            break;
    }
    return text.substr(begin, end - begin);
}

bool is_word_part(char c)
{
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool has_word(StringRef text, StringRef word)
{
    for (std::size_t at = text.find(word); at != StringRef::npos; at = text.find(word, at + 1)) {
        const bool begins = at == 0 || !is_word_part(text[at - 1]);
        const std::size_t after = at + word.size();
        if (begins && (after >= text.size() || !is_word_part(text[after])))
            return true;
    }
    return false;
}

}  // namespace

Holes::Holes(const std::vector<SourceLocation>& errors, const SourceManager& sources) : sources_(&sources)
{
    for (const SourceLocation error : errors) {
        const auto [file, offset] = sources.getDecomposedLoc(sources.getFileLoc(error));
        bool invalid = false;
        const StringRef text = sources.getBufferData(file, &invalid);
        if (!invalid && offset < text.size())
            holes_.push_back({file, offset, statement_around(text, offset)});
    }
}

bool Holes::contains(SourceRange range, const Hole& hole) const
{
    const auto [begin_file, begin] = sources_->getDecomposedLoc(sources_->getFileLoc(range.getBegin()));
    const auto [end_file, end] = sources_->getDecomposedLoc(sources_->getFileLoc(range.getEnd()));
    return begin_file == hole.file && end_file == hole.file && begin <= hole.offset && hole.offset <= end;
}

bool Holes::mention(SourceRange range, StringRef word) const
{
    for (const Hole& hole : holes_) {
        if (contains(range, hole) && has_word(hole.text, word))
            return true;
    }
    return false;
}

bool Holes::inside(SourceRange range) const
{
    for (const Hole& hole : holes_) {
        if (contains(range, hole))
            return true;
    }
    return false;
}

}  // namespace pinwarden::scan
