// SPDX-License-Identifier: Apache-2.0
#include "command/count_option.hpp"
#include "command/exit_status.hpp"
#include "command/output_file.hpp"
#include "command/subcommand.hpp"
#include "command/version_command.hpp"
#include "scan/analyse.hpp"
#include "scan/driver/analyser_program.hpp"
#include "scan/driver/json_report.hpp"
#include "scan/driver/junit_report.hpp"
#include "scan/driver/sarif_report.hpp"
#include "scan/driver/scan_run.hpp"
#include "scan/driver/text_report.hpp"

#include <pinwarden/core/error.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>

namespace pinwarden::command {

namespace {

/// What the command line of `pinwarden scan` says.
struct ScanRequest {
    scan::ScanOptions options;
    std::string format = "text";
    std::filesystem::path output;
    std::string cuda_path;
};

/// Declarations of our own instead of a toolkit's headers.
constexpr const char* no_toolkit = "none";

void show_progress(std::size_t done, std::size_t all, const std::string& file) {
    const std::string name = std::filesystem::path(file).filename().string();
    fmt::print(stderr, "\r\033[K[{}/{}] {}", done, all, name);
    if (done == all) fmt::print(stderr, "\r\033[K");
    std::fflush(stderr);
}

int scan(ScanRequest& request) {
    scan::ScanOptions& options = request.options;
    if (options.paths.empty() && options.build_directory.empty()) {
        throw ConfigurationError(
            "Nothing to scan is named; give files or folders, or -p with the folder of a "
            "compile_commands.json.");
    }
    if (request.cuda_path != no_toolkit)
        options.cuda_path = request.cuda_path.empty() ? scan::find_cuda_path() : request.cuda_path;
    options.child_command = {scan::find_analyser(std::filesystem::read_symlink("/proc/self/exe")).string()};
    std::optional<OutputFile> output;
    if (!request.output.empty()) output.emplace(request.output, "the report");

    scan::SourceText text;
    const bool progress = ::isatty(STDERR_FILENO) == 1;
    const scan::ScanReport report =
        scan::run_scan(options, text, progress ? scan::ScanProgress(&show_progress) : scan::ScanProgress());
    std::string written;
    const scan::LinesOf lines_of = [&](const std::string& file) -> const std::vector<std::string>& {
        return text.lines_of(file);
    };
    const std::filesystem::path base = std::filesystem::current_path();
    if (request.format == "json")
        written = scan::json_report(report);
    else if (request.format == "sarif")
        written = scan::sarif_report(report, lines_of, base, version_number());
    else if (request.format == "junit")
        written = scan::junit_report(report, base);
    else
        written = scan::text_report(report, lines_of, {!output && ::isatty(STDOUT_FILENO) == 1, base});
    if (output)
        output->commit(written);
    else
        write_to_standard_output(written);
    if (report.failures() == report.files.size()) return exit_could_not_run;
    return report.findings.empty() ? exit_clean : exit_findings;
}

}  // namespace

void add_scan(CLI::App& program, int& exit_status) {
    const auto request = std::make_shared<ScanRequest>();
    scan::ScanOptions& options = request->options;
    options.jobs = std::max(1U, std::thread::hardware_concurrency());
    CLI::App* const app = program.add_subcommand(
        "scan", "Find pins that leak, and other mistakes with pinned memory, in C, C++ and CUDA sources");
    app->add_option("PATHS", options.paths, "Source files, and folders to search for them");
    app->add_option("-p", options.build_directory, "Folder with the compile_commands.json of the build")
        ->type_name("BUILD");
    app->add_option("--format", request->format, "How the report is written")
        ->check(CLI::IsMember({"text", "json", "sarif", "junit"}))
        ->capture_default_str();
    app->add_option("--output", request->output, "Write the report there, not to the standard output")
        ->type_name("FILE");
    app->add_option("--config", options.project_file,
                    "The project's settings (default: the .pinwarden.yaml beside or above the paths)")
        ->type_name("FILE");
    app->add_option("--baseline", options.baseline, "Leave out the findings of this earlier report (json or sarif)")
        ->type_name("FILE");
    app->add_option("--changed-since", options.changed_since,
                    "Only findings in functions that changed since this revision of Git")
        ->type_name("REV");
    app->add_flag("--require-handles", options.require_handles, "Report every pin call as `raw-pin`");
    app->add_option("--allow-pins-in", options.allowed_folders, "Folder where raw pins are allowed")
        ->type_name("DIR")
        ->allow_extra_args(false);
    app->add_option("--cuda-path", request->cuda_path,
                    "Root of a CUDA toolkit, or `none` (default: CUDA_PATH, CUDA_HOME, /usr/local/cuda)")
        ->type_name("DIR");
    app->add_option("--extra-arg", options.extra_arguments, "One more argument for the compiler")
        ->type_name("ARG")
        ->allow_extra_args(false);
    constexpr std::uint64_t most_jobs = 1024;
    constexpr std::uint64_t most_seconds = 86400;
    constexpr std::uint64_t least_mib = 16;
    constexpr std::uint64_t most_mib = std::uint64_t{1} << 20U;
    add_count_option(*app, "-j", options.jobs, {1, most_jobs}, "Files to analyse at a time");
    add_count_option(*app, "--timeout", options.timeout_seconds, {1, most_seconds}, "Seconds for one file");
    add_count_option(*app, "--memory", options.memory_mib, {least_mib, most_mib}, "MiB for one file");
    app->callback([request, &exit_status] { exit_status = scan(*request); });
}

}  // namespace pinwarden::command
