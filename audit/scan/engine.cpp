// SPDX-License-Identifier: Apache-2.0
#include "engine.hpp"

#include "pin_checker.hpp"
#include "pin_rules.hpp"

#include <clang/CrossTU/CrossTranslationUnit.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <clang/StaticAnalyzer/Core/CheckerManager.h>
#include <clang/StaticAnalyzer/Core/PathSensitive/AnalysisManager.h>
#include <clang/StaticAnalyzer/Core/PathSensitive/ExprEngine.h>
#include <clang/StaticAnalyzer/Frontend/CheckerRegistry.h>

namespace pinwarden::scan {
namespace {

using namespace clang;
using namespace clang::ento;

/// The checkers of the engine itself report nothing here; only the calls that never return matter.
constexpr const char* checkers = "-analyzer-checker=core.builtin.BuiltinFunctions,"
                                 "core.builtin.NoReturnFunctions,pinwarden.Pin";

class NoDiagnostics : public PathDiagnosticConsumer {
public:
    void FlushDiagnosticsImpl(std::vector<const PathDiagnostic*>&, FilesMade*) override {}
    StringRef getName() const override { return "pinwarden"; }
};

PathLog*& current_log()
{
    static PathLog* log = nullptr;
    return log;
}

void register_checker(CheckerRegistry& registry)
{
    registry.addChecker(
        [](CheckerManager& manager) { manager.registerChecker<PinChecker>()->log = current_log(); },
        [](const CheckerManager&) { return true; }, "pinwarden.Pin", "Follows page-locked memory", "", false);
}

void set_options(AnalyzerOptions& options)
{
    options.AnalysisDiagOpt = PD_NONE;
    options.MaxNodesPerTopLevelFunction = 40000;
}

}  // namespace

unsigned follow_paths(CompilerInstance& compiler, const std::vector<const FunctionDecl*>& functions,
                      PathLog& log)
{
    if (functions.empty())
        return 0;
    ASTContext& ast = compiler.getASTContext();
    DiagnosticsEngine& diagnostics = compiler.getDiagnostics();
    diagnostics.setSuppressAllDiagnostics(true);
    const std::vector<const char*> arguments{
        "-analyze",
        checkers,
        "-analyzer-config",
        "c++-container-inlining=true,ipa=inlining,cfg-implicit-dtors=true",
        "-analyzer-opt-analyze-headers",
        "input.cpp"};
    auto invocation = std::make_shared<CompilerInvocation>();
    CompilerInvocation::CreateFromArgs(*invocation, arguments, diagnostics);
    AnalyzerOptions& options = invocation->getAnalyzerOpts();
    set_options(options);
    // Errors in the code are the normal case; the manager would refuse to work with them on record.
    diagnostics.Reset(/*soft=*/true);

    current_log() = &log;
    CheckerManager checker_manager(ast, options, compiler.getPreprocessor(), ArrayRef<std::string>{},
                                   {[](CheckerRegistry& registry) { register_checker(registry); }});
    PathDiagnosticConsumers consumers{new NoDiagnostics};
    AnalysisManager manager(ast, compiler.getPreprocessor(), consumers, CreateRegionStoreManager,
                            CreateRangeConstraintManager, &checker_manager, options);
    cross_tu::CrossTranslationUnitContext across(compiler);
    FunctionSummariesTy summaries;
    unsigned followed = 0;
    for (const FunctionDecl* function : functions) {
        if (!manager.getCFG(function))
            continue;
        const StackFrameContext* frame = manager.getAnalysisDeclContextManager().getStackFrame(function);
        log.begin(*function, frame);
        SetOfConstDecls visited;
        ExprEngine engine(across, manager, &visited, &summaries, ExprEngine::Inline_Regular);
        engine.ExecuteWorkList(frame, options.MaxNodesPerTopLevelFunction);
        judge_path_ends(log);
        collect_member_facts(log);
        collect_wrapper(log);
        ++followed;
    }
    current_log() = nullptr;
    return followed;
}

}  // namespace pinwarden::scan
