// SPDX-License-Identifier: Apache-2.0
#include "analyse.hpp"
#include "join.hpp"

#include <clang-tidy/ClangTidyCheck.h>
#include <clang-tidy/ClangTidyModule.h>
#include <clang-tidy/ClangTidyModuleRegistry.h>
#include <clang/ASTMatchers/ASTMatchFinder.h>
#include <clang/ASTMatchers/ASTMatchers.h>
#include <clang/Basic/FileManager.h>
#include <clang/Basic/LangStandard.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/HeaderSearchOptions.h>
#include <clang/Lex/Preprocessor.h>
#include <clang/Lex/PreprocessorOptions.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

/// The rules as checks of clang-tidy: `clang-tidy -load pinwarden-tidy.so -checks='-*,pinwarden-*' FILE`.
///
/// A check sees the syntax tree of clang-tidy's own run, which has no paths and no healed errors in it. So the file is
/// analysed once more, with the same folders and macros, and each check reports the findings of its rule.
namespace pinwarden::scan {
namespace {

using namespace clang;

/// How clang-tidy read the file, said again as a command line.
AnalyseRequest request_of(const SourceManager& sources, const Preprocessor& preprocessor)
{
    AnalyseRequest request;
    const FileManager& files = sources.getFileManager();
    if (const auto main_file = sources.getFileEntryRefForID(sources.getMainFileID()))
        request.file = main_file->getFileEntry().tryGetRealPathName().str();
    if (const auto folder = files.getVirtualFileSystem().getCurrentWorkingDirectory())
        request.directory = *folder;
    request.cuda_path = find_cuda_path();
    const LangOptions& language = preprocessor.getLangOpts();
    request.arguments = {"-x", language.CUDA ? "cuda" : language.CPlusPlus ? "c++" : "c"};
    if (language.LangStd != LangStandard::lang_unspecified) {
        const LangStandard& standard = LangStandard::getLangStandardForKind(language.LangStd);
        request.arguments.push_back(std::string("-std=") + standard.getName());
    }
    for (const auto& [macro, undefined] : preprocessor.getPreprocessorOpts().Macros)
        request.arguments.push_back((undefined ? "-U" : "-D") + macro);
    for (const auto& entry : preprocessor.getHeaderSearchInfo().getHeaderSearchOpts().UserEntries) {
        const bool quoted = entry.Group == frontend::Quoted;
        const bool plain = entry.Group == frontend::Angled;
        request.arguments.insert(request.arguments.end(),
                                 {quoted ? "-iquote" : plain ? "-I" : "-isystem", entry.Path});
    }
    return request;
}

std::vector<Finding> findings_of(const AnalyseRequest& request)
{
    AnalyseResult result = analyse_file(request);
    std::vector<Finding> joined = join_facts({result.facts});
    std::move(joined.begin(), joined.end(), std::back_inserter(result.findings));
    sort_and_unify(result.findings);
    return std::move(result.findings);
}

/// What the checks of one run share, so that a file is analysed once for all of them.
struct Shared {
    const Preprocessor* preprocessor = nullptr;
    std::string file;
    std::vector<Finding> findings;
};

Shared& shared()
{
    static Shared data;
    return data;
}

class RuleCheck : public tidy::ClangTidyCheck {
public:
    RuleCheck(StringRef name, tidy::ClangTidyContext* context)
        : ClangTidyCheck(name, context),
          rule_(name.substr(name.find('-') + 1).str())
    {}

    void registerPPCallbacks(const SourceManager&, Preprocessor* preprocessor, Preprocessor*) override
    {
        shared().preprocessor = preprocessor;
        shared().file.clear();
    }

    void registerMatchers(ast_matchers::MatchFinder* finder) override
    {
        finder->addMatcher(ast_matchers::translationUnitDecl(), this);
    }

    void check(const ast_matchers::MatchFinder::MatchResult& match) override
    {
        const AnalyseRequest request = request_of(*match.SourceManager, *shared().preprocessor);
        if (shared().file != request.file) {
            shared().findings = findings_of(request);
            shared().file = request.file;
        }
        for (const Finding& finding : shared().findings) {
            if (finding.rule == rule_)
                report(finding, *match.SourceManager);
        }
    }

private:
    void report(const Finding& finding, const SourceManager& sources)
    {
        diag(place_of(finding.location, sources), "%0") << finding.message;
        for (const PathNote& note : finding.notes)
            diag(place_of(note.location, sources), "%0", DiagnosticIDs::Note) << note.text;
    }

    static SourceLocation place_of(const Location& location, const SourceManager& sources)
    {
        if (location.line == 0)
            return {};
        const auto file = sources.getFileManager().getFileRef(location.file);
        if (!file) {
            llvm::consumeError(file.takeError());
            return {};
        }
        return sources.translateFileLineCol(*file, location.line, std::max(location.column, 1U));
    }

    std::string rule_;
};

class Module : public tidy::ClangTidyModule {
public:
    void addCheckFactories(tidy::ClangTidyCheckFactories& factories) override
    {
        for (const char* rule :
             {"conditional-release", "copyable-owner", "double-pin", "double-release", "freed-while-registered",
              "leak", "leak-on-throw", "no-releasing-destructor", "overwritten-pin", "release-in-callback",
              "release-in-flight", "reuse-in-flight", "unchecked-pin", "wrong-argument", "wrong-release"}) {
            factories.registerCheck<RuleCheck>(std::string("pinwarden-") + rule);
        }
    }
};

const tidy::ClangTidyModuleRegistry::Add<Module> registration("pinwarden-module",
                                                              "Finds mistakes with page-locked memory.");

}  // namespace
}  // namespace pinwarden::scan
