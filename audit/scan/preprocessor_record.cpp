// SPDX-License-Identifier: Apache-2.0
#include "preprocessor_record.hpp"

#include <clang/Lex/Lexer.h>

#include <algorithm>
#include <memory>

namespace pinwarden::scan {
namespace {

using namespace clang;

std::string without_spaces(StringRef text)
{
    std::string out;
    for (const char c : text) {
        if (c != ' ' && c != '\t' && c != '\n' && c != '\\')
            out += c;
    }
    return out;
}

class Recorder : public PPCallbacks {
public:
    Recorder(Preprocessor& preprocessor, PreprocessorRecord& record)
        : preprocessor_(preprocessor),
          record_(record)
    {}

    bool FileNotFound(StringRef name) override
    {
        record_.missing_headers.push_back(name.str());
        return true;
    }

    void If(SourceLocation at, SourceRange range, ConditionValueKind value) override
    {
        open(at, text(range), value == CVK_True);
    }
    void Ifdef(SourceLocation at, const Token& name, const MacroDefinition& macro) override
    {
        open(at, "defined(" + preprocessor_.getSpelling(name) + ")", static_cast<bool>(macro));
    }
    void Ifndef(SourceLocation at, const Token& name, const MacroDefinition& macro) override
    {
        open(at, "!(defined(" + preprocessor_.getSpelling(name) + "))", !macro);
    }
    void Elif(SourceLocation at, SourceRange range, ConditionValueKind value, SourceLocation) override
    {
        next(at, text(range), value == CVK_True);
    }
    void Elifdef(SourceLocation at, SourceRange range, SourceLocation) override
    {
        next(at, text(range), false);
    }
    void Elifndef(SourceLocation at, SourceRange range, SourceLocation) override
    {
        next(at, text(range), false);
    }
    void Else(SourceLocation at, SourceLocation) override
    {
        if (open_.empty())
            return;
        next(at, negated(open_.back()), !open_.back().any_taken);
    }
    void Endif(SourceLocation at, SourceLocation) override
    {
        if (open_.empty())
            return;
        close(at);
        open_.pop_back();
    }

private:
    struct Open {
        SourceLocation group;
        std::size_t branch = 0;
        bool any_taken = false;
        std::vector<std::string> conditions;
    };

    std::string text(SourceRange range) const
    {
        return without_spaces(Lexer::getSourceText(CharSourceRange::getCharRange(range),
                                                   preprocessor_.getSourceManager(),
                                                   preprocessor_.getLangOpts()));
    }

    static std::string negated(const Open& group)
    {
        if (group.conditions.size() == 1) {
            const std::string& only = group.conditions.front();
            if (only.starts_with("!(") && only.ends_with(")"))
                return only.substr(2, only.size() - 3);
            return "!(" + only + ")";
        }
        std::string all;
        for (const std::string& condition : group.conditions)
            all += (all.empty() ? "!(" : "||") + condition;
        return all + ")";
    }

    void open(SourceLocation at, std::string condition, bool taken)
    {
        open_.push_back({at, record_.branches.size(), taken, {condition}});
        record_.branches.push_back({at, {}, std::move(condition), taken, at});
    }

    void next(SourceLocation at, std::string condition, bool taken)
    {
        if (open_.empty())
            return;
        close(at);
        Open& group = open_.back();
        const bool now = taken && !group.any_taken;
        group.any_taken |= now;
        group.branch = record_.branches.size();
        group.conditions.push_back(condition);
        record_.branches.push_back({at, {}, std::move(condition), now, group.group});
    }

    void close(SourceLocation at) { record_.branches[open_.back().branch].end = at; }

    Preprocessor& preprocessor_;
    PreprocessorRecord& record_;
    std::vector<Open> open_;
};

}  // namespace

std::vector<const ConditionalBranch*> PreprocessorRecord::around(SourceLocation place,
                                                                 const SourceManager& sources) const
{
    std::vector<const ConditionalBranch*> out;
    const auto [file, offset] = sources.getDecomposedLoc(sources.getFileLoc(place));
    for (const ConditionalBranch& branch : branches) {
        if (branch.end.isInvalid())
            continue;
        const auto [begin_file, begin] = sources.getDecomposedLoc(branch.begin);
        const auto [end_file, end] = sources.getDecomposedLoc(branch.end);
        if (begin_file == file && end_file == file && begin < offset && offset < end)
            out.push_back(&branch);
    }
    return out;
}

void record_preprocessor(Preprocessor& preprocessor, PreprocessorRecord& record)
{
    preprocessor.addPPCallbacks(std::make_unique<Recorder>(preprocessor, record));
}

}  // namespace pinwarden::scan
