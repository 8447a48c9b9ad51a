// SPDX-License-Identifier: Apache-2.0
#include "analyse.hpp"

#include "ast_facts.hpp"
#include "command_line.hpp"
#include "engine.hpp"
#include "heal.hpp"
#include "holes.hpp"
#include "preprocessor_record.hpp"
#include "reach.hpp"
#include "virtual_headers.hpp"

#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Sema/Sema.h>
#include <clang/Tooling/Tooling.h>
#include <llvm/Support/VirtualFileSystem.h>

namespace pinwarden::scan {
namespace {

using namespace clang;

/// Counts errors and remembers where they are, so that no rule draws a conclusion from what is missing there.
class ErrorCounter : public DiagnosticConsumer {
public:
    void HandleDiagnostic(DiagnosticsEngine::Level level, const Diagnostic& diagnostic) override
    {
        DiagnosticConsumer::HandleDiagnostic(level, diagnostic);
        if (level < DiagnosticsEngine::Error)
            return;
        ++errors;
        if (diagnostic.getLocation().isValid())
            places.push_back(diagnostic.getLocation());
    }

    unsigned errors = 0;
    std::vector<SourceLocation> places;
};

class Consumer : public ASTConsumer {
public:
    Consumer(CompilerInstance& compiler, const AnalyseRequest& request, const ApiTable& apis,
             const PreprocessorRecord& preprocessor, const ErrorCounter& errors, AnalyseResult& result)
        : compiler_(compiler),
          request_(request),
          apis_(apis),
          preprocessor_(preprocessor),
          errors_(errors),
          result_(result)
    {}

    void HandleTranslationUnit(ASTContext& ast) override
    {
        result_.parsed = true;
        if (!names_an_api(ast)) {
            result_.skipped = true;
            return;
        }
        if (errors_.errors != 0)
            heal_errors(compiler_.getSema());
        const std::vector<const FunctionDecl*> functions = functions_reaching(apis_, ast);
        PathLog log(apis_, ast, result_.findings, result_.facts);
        const Holes holes(errors_.places, ast.getSourceManager());
        log.preprocessor = &preprocessor_;
        log.holes = &holes;
        result_.functions = follow_paths(compiler_, functions, log);
        collect_ast_facts({compiler_, apis_, preprocessor_, holes, request_.report_raw_pins},
                          result_.findings, result_.facts);
    }

private:
    bool names_an_api(const ASTContext& ast) const
    {
        for (const auto& entry : ast.Idents) {
            if (apis_.mentions(entry.getKey()))
                return true;
        }
        return false;
    }

    CompilerInstance& compiler_;
    const AnalyseRequest& request_;
    const ApiTable& apis_;
    const PreprocessorRecord& preprocessor_;
    const ErrorCounter& errors_;
    AnalyseResult& result_;
};

class Action : public ASTFrontendAction {
public:
    Action(const AnalyseRequest& request, const ApiTable& apis, const ErrorCounter& errors,
           AnalyseResult& result)
        : request_(request),
          apis_(apis),
          errors_(errors),
          result_(result)
    {}

    ~Action() override { result_.missing_headers = preprocessor_.missing_headers; }

    bool BeginSourceFileAction(CompilerInstance& compiler) override
    {
        record_preprocessor(compiler.getPreprocessor(), preprocessor_);
        compiler.getDiagnostics().setFatalsAsError(true);
        return true;
    }

    std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance& compiler, StringRef) override
    {
        return std::make_unique<Consumer>(compiler, request_, apis_, preprocessor_, errors_, result_);
    }

private:
    const AnalyseRequest& request_;
    const ApiTable& apis_;
    const ErrorCounter& errors_;
    AnalyseResult& result_;
    PreprocessorRecord preprocessor_;
};

IntrusiveRefCntPtr<FileManager> file_manager(const AnalyseRequest& request)
{
    auto memory = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
    for (const auto& [path, text] : virtual_headers())
        memory->addFile(path, 0, llvm::MemoryBuffer::getMemBufferCopy(text, path));
    auto overlay = llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(llvm::vfs::getRealFileSystem());
    overlay->pushOverlay(memory);
    FileSystemOptions options;
    options.WorkingDir = request.directory;
    return llvm::makeIntrusiveRefCnt<FileManager>(options, overlay);
}

}  // namespace

AnalyseResult analyse_file(const AnalyseRequest& request)
{
    AnalyseResult result;
    result.file = request.file;
    result.facts.file = request.file;
    ApiTable apis = ApiTable::builtin();
    for (const Api& api : request.extra_apis)
        apis.add(api);

    ErrorCounter errors;
    const IntrusiveRefCntPtr<FileManager> files = file_manager(request);
    tooling::ToolInvocation invocation(command_line(request),
                                       std::make_unique<Action>(request, apis, errors, result), files.get());
    invocation.setDiagnosticConsumer(&errors);
    invocation.run();
    result.errors = errors.errors;
    sort_and_unify(result.findings);
    return result;
}

}  // namespace pinwarden::scan
