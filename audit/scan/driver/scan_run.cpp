// SPDX-License-Identifier: Apache-2.0
#include "scan/driver/scan_run.hpp"

#include "scan/analyse.hpp"
#include "scan/driver/child_process.hpp"
#include "scan/driver/compile_database.hpp"
#include "scan/driver/include_folders.hpp"
#include "scan/driver/source_files.hpp"
#include "scan/driver/suppression.hpp"
#include "scan/join.hpp"

#include <pinwarden/core/error.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <chrono>
#include <cstring>
#include <iterator>
#include <memory>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

namespace pinwarden::scan {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view prelude_folder = "/pinwarden-prelude/";

struct Job {
    AnalyseRequest request;
    AnalyseResult result;
    FileOutcome outcome;
};

std::vector<fs::path> sources_of(const ScanOptions& options, const CompileDatabase& database) {
    if (!options.paths.empty()) return collect_sources(options.paths);
    std::vector<fs::path> sources;
    for (const auto& [file, command] : database) {
        std::error_code ignored;
        if (fs::is_regular_file(file, ignored)) sources.emplace_back(file);
    }
    return sources;
}

std::vector<Job> make_jobs(const ScanOptions& options) {
    CompileDatabase database;
    if (!options.build_directory.empty()) database = read_compile_database(options.build_directory);
    const std::vector<fs::path> sources = sources_of(options, database);
    if (sources.empty()) {
        throw ConfigurationError(
            "There is nothing to scan: no source file (.c, .cc, .cpp, .cxx, .cu, .hip) is under the paths "
            "given or in the compile database; give a file or a folder with sources.");
    }
    std::unique_ptr<IncludeFolders> folders;
    std::vector<Job> jobs;
    for (const fs::path& source : sources) {
        Job job;
        job.request.file = source.string();
        job.request.cuda_path = options.cuda_path;
        job.request.report_raw_pins = options.require_handles;
        const auto known = database.find(source.string());
        if (known != database.end()) {
            job.request.directory = known->second.directory;
            job.request.arguments = known->second.arguments;
        } else {
            if (!folders)
                folders = std::make_unique<IncludeFolders>(options.paths.empty() ? sources : options.paths);
            for (const std::string& folder : folders->folders_for(source))
                job.request.arguments.push_back("-I" + folder);
        }
        job.request.arguments.insert(job.request.arguments.end(), options.extra_arguments.begin(),
                                     options.extra_arguments.end());
        job.outcome.file = job.request.file;
        jobs.push_back(std::move(job));
    }
    return jobs;
}

std::string last_line(std::string text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == '\0')) text.pop_back();
    return text.substr(text.rfind('\n') + 1);
}

bool ran_out_of_memory(const std::string& errors) {
    return errors.find("out of memory") != std::string::npos || errors.find("bad_alloc") != std::string::npos;
}

void analyse(Job& job, const ScanOptions& options) {
    const ChildLimits limits{std::chrono::seconds(options.timeout_seconds), options.memory_mib << 20U};
    job.outcome.state = FileState::crashed;
    try {
        const ChildResult child =
            run_child(options.child_command, nlohmann::json(job.request).dump(), limits);
        if (child.timed_out) {
            job.outcome.state = FileState::timed_out;
            job.outcome.detail = fmt::format("no result within {} s", options.timeout_seconds);
        } else if ((child.signal != 0 || child.exit_code != 0) && ran_out_of_memory(child.errors)) {
            job.outcome.state = FileState::out_of_memory;
            job.outcome.detail = fmt::format("more than {} MiB asked for", options.memory_mib);
        } else if (child.signal != 0) {
            job.outcome.detail =
                fmt::format("the analysis ended by signal {} ({})", child.signal, ::strsignal(child.signal));
        } else if (child.exit_code != 0) {
            job.outcome.detail =
                fmt::format("the analysis exited with {}: {}", child.exit_code, last_line(child.errors));
        } else {
            job.result = nlohmann::json::parse(child.output).get<AnalyseResult>();
            job.outcome.state = job.result.skipped ? FileState::skipped : FileState::scanned;
            job.outcome.detail.clear();
            job.outcome.errors = job.result.errors;
            job.outcome.missing_headers = job.result.missing_headers;
        }
    } catch (const nlohmann::json::exception& error) {
        job.outcome.detail = fmt::format("the analysis gave an answer that cannot be read: {}", error.what());
    } catch (const std::exception& error) {
        job.outcome.detail = error.what();
    }
}

/// Analyses `jobs` on as many threads as asked for.
void analyse_all(const std::vector<Job*>& jobs, const ScanOptions& options, const ScanProgress& progress) {
    std::atomic<std::size_t> next{0};
    std::mutex mutex;
    std::size_t done = 0;
    const auto work = [&] {
        for (std::size_t index = next++; index < jobs.size(); index = next++) {
            analyse(*jobs[index], options);
            const std::lock_guard lock(mutex);
            if (progress) progress(++done, jobs.size(), jobs[index]->request.file);
        }
    };
    std::vector<std::jthread> threads;
    const std::size_t count = std::min<std::size_t>(options.jobs, jobs.size());
    for (std::size_t thread = 0; thread < count; ++thread) threads.emplace_back(work);
}

bool names_word(std::string_view text, std::string_view word) {
    const auto in_word = [](char letter) {
        return letter == '_' || std::isalnum(static_cast<unsigned char>(letter)) != 0;
    };
    for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
        const std::size_t end = at + word.size();
        if ((at == 0 || !in_word(text[at - 1])) && (end == text.size() || !in_word(text[end]))) return true;
    }
    return false;
}

/// Files that call a wrapper of another file, with what they must know of it.
std::vector<Job*> jobs_to_repeat(std::vector<Job>& jobs) {
    std::vector<FileFacts> facts;
    for (const Job& job : jobs) facts.push_back(job.result.facts);
    const std::vector<Api> wrappers = wrappers_of(facts);
    std::vector<Job*> repeat;
    if (wrappers.empty()) return repeat;
    for (Job& job : jobs) {
        if (is_failure(job.outcome.state)) continue;
        const std::string text = text_of(job.request.file);
        const std::vector<Api>& own = job.result.facts.wrappers;
        for (const Api& wrapper : wrappers) {
            const bool defined_here = std::any_of(own.begin(), own.end(), [&](const Api& api) {
                return api.name == wrapper.name;
            });
            const std::string word = wrapper.name.substr(wrapper.name.rfind(':') + 1);
            if (!defined_here && names_word(text, word)) job.request.extra_apis.push_back(wrapper);
        }
        if (!job.request.extra_apis.empty()) repeat.push_back(&job);
    }
    return repeat;
}

bool is_wanted(const Finding& finding, const ScanOptions& options) {
    if (finding.location.file.starts_with(prelude_folder)) return false;
    return finding.rule != "raw-pin" ||
           !is_in_folders(finding.location.file, options.allowed_folders, options.paths);
}

void apply_suppressions(ScanReport& report, SourceText& text) {
    std::set<std::string> files;
    for (const FileOutcome& file : report.files) {
        if (file.state == FileState::scanned) files.insert(file.file);
    }
    for (const Finding& finding : report.findings) files.insert(finding.location.file);
    const std::size_t before = report.findings.size();
    std::erase_if(report.findings, [&](const Finding& finding) {
        return is_suppressed(text.lines_of(finding.location.file), finding.location.line, finding.rule);
    });
    report.suppressed = before - report.findings.size();
    for (const std::string& file : files) {
        std::vector<Finding> more = reasonless_suppressions(file, text.lines_of(file));
        std::move(more.begin(), more.end(), std::back_inserter(report.findings));
    }
}

}  // namespace

bool is_in_folders(const std::string& file, const std::vector<std::string>& folders,
                   const std::vector<fs::path>& roots) {
    const auto is_below = [](const fs::path& path, const fs::path& folder) {
        const fs::path relative = path.lexically_relative(folder);
        return !relative.empty() && *relative.begin() != ".." && relative != ".";
    };
    const auto runs_through = [](const fs::path& path, const fs::path& folder) {
        return std::search(path.begin(), path.end(), folder.begin(), folder.end()) != path.end();
    };
    const fs::path path = fs::absolute(file).lexically_normal();
    for (const std::string& text : folders) {
        fs::path folder = fs::path(text).lexically_normal();
        if (!folder.has_filename()) folder = folder.parent_path();
        if (is_below(path, fs::absolute(folder).lexically_normal())) return true;
        for (const fs::path& root : roots) {
            const fs::path whole = fs::absolute(root).lexically_normal();
            if (is_below(path, whole) && runs_through(path.lexically_relative(whole).parent_path(), folder))
                return true;
        }
    }
    return false;
}

ScanReport run_scan(const ScanOptions& options, SourceText& text, const ScanProgress& progress) {
    std::vector<Job> jobs = make_jobs(options);
    std::vector<Job*> all;
    for (Job& job : jobs) all.push_back(&job);
    analyse_all(all, options, progress);
    analyse_all(jobs_to_repeat(jobs), options, progress);

    ScanReport report;
    std::vector<FileFacts> facts;
    for (Job& job : jobs) {
        if (!is_failure(job.outcome.state)) {
            std::move(job.result.findings.begin(), job.result.findings.end(),
                      std::back_inserter(report.findings));
            facts.push_back(std::move(job.result.facts));
        }
        report.files.push_back(std::move(job.outcome));
    }
    std::vector<Finding> joined = join_facts(facts);
    std::move(joined.begin(), joined.end(), std::back_inserter(report.findings));
    std::erase_if(report.findings, [&](const Finding& finding) { return !is_wanted(finding, options); });
    sort_and_unify(report.findings);
    apply_suppressions(report, text);
    sort_and_unify(report.findings);
    return report;
}

}  // namespace pinwarden::scan
