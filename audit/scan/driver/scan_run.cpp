// SPDX-License-Identifier: Apache-2.0
#include "scan/driver/scan_run.hpp"

#include "scan/analyse.hpp"
#include "scan/driver/baseline.hpp"
#include "scan/driver/changed_code.hpp"
#include "scan/driver/child_process.hpp"
#include "scan/driver/compile_database.hpp"
#include "scan/driver/include_folders.hpp"
#include "scan/driver/project_file.hpp"
#include "scan/driver/refine.hpp"
#include "scan/driver/relevance.hpp"
#include "scan/driver/source_files.hpp"
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

struct Job {
    AnalyseRequest request;
    AnalyseResult result;
    FileOutcome outcome;
    bool passed_over = false;  ///< nothing in the file speaks of pins, so it was not parsed
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

/// Where the files of the scan are, as far as the command line says.
std::vector<fs::path> places_of(const ScanOptions& options) {
    return options.paths.empty() ? std::vector<fs::path>{fs::current_path()} : options.paths;
}

std::vector<Job> make_jobs(const ScanOptions& options, const std::vector<ProjectFile>& projects) {
    CompileDatabase database;
    if (!options.build_directory.empty()) database = read_compile_database(options.build_directory);
    std::vector<fs::path> sources = sources_of(options, database);
    std::erase_if(sources, [&](const fs::path& source) {
        return std::any_of(projects.begin(), projects.end(),
                           [&](const ProjectFile& project) { return project.skips(source); });
    });
    if (sources.empty()) {
        throw ConfigurationError(
            "There is nothing to scan: no source file (.c, .cc, .cpp, .cxx, .cu, .hip) is under the paths "
            "given or in the compile database, or the project's file skips all; give a file or a folder with "
            "sources.");
    }
    bool raw_pins = options.require_handles;
    std::vector<Api> apis;
    for (const ProjectFile& project : projects) {
        raw_pins = raw_pins || project.require_handles;
        apis.insert(apis.end(), project.apis.begin(), project.apis.end());
    }
    std::unique_ptr<IncludeFolders> folders;
    std::vector<Job> jobs;
    for (const fs::path& source : sources) {
        Job job;
        job.request.file = source.string();
        job.request.cuda_path = options.cuda_path;
        job.request.report_raw_pins = raw_pins;
        job.request.extra_apis = apis;
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

std::vector<fs::path> folders_of(const std::vector<Job>& jobs) {
    std::set<fs::path> folders;
    for (const Job& job : jobs) folders.insert(fs::path(job.request.file).parent_path());
    return {folders.begin(), folders.end()};
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

/// Analyses those of `jobs` that matter on as many threads as asked for; all of them without `relevance`.
void analyse_all(const std::vector<Job*>& jobs, const ScanOptions& options, Relevance* relevance,
                 const ScanProgress& progress) {
    std::atomic<std::size_t> next{0};
    std::mutex mutex;
    std::size_t done = 0;
    const auto work = [&] {
        for (std::size_t index = next++; index < jobs.size(); index = next++) {
            Job& job = *jobs[index];
            job.passed_over = relevance != nullptr && !relevance->is_relevant(job.request);
            if (!job.passed_over) analyse(job, options);
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

/// Names by which a file that was passed over may have to do with the pins of other files after all: members that
/// are pinned, and their classes.
std::set<std::string> names_of_pinned(const std::vector<FileFacts>& facts) {
    std::set<std::string> names;
    for (const FileFacts& file : facts) {
        for (const PinnedMember& pin : file.pinned) {
            names.insert(pin.member.substr(pin.member.rfind(':') + 1));
            const std::string record = pin.record.substr(0, pin.record.find('@'));
            names.insert(record.substr(record.rfind(':') + 1));
        }
    }
    names.erase("");
    return names;
}

/// Files to analyse once more: those that call a wrapper of another file, with what they must know of it, and those
/// that were passed over and name something that others pin.
std::vector<Job*> jobs_to_repeat(std::vector<Job>& jobs) {
    std::vector<FileFacts> facts;
    for (const Job& job : jobs) facts.push_back(job.result.facts);
    const std::vector<Api> wrappers = wrappers_of(facts);
    const std::set<std::string> names = names_of_pinned(facts);
    std::vector<Job*> repeat;
    if (wrappers.empty() && names.empty()) return repeat;
    for (Job& job : jobs) {
        if (is_failure(job.outcome.state)) continue;
        const std::string text = text_of(job.request.file);
        const std::vector<Api>& own = job.result.facts.wrappers;
        bool again = job.passed_over && std::any_of(names.begin(), names.end(), [&](const std::string& name) {
            return names_word(text, name);
        });
        for (const Api& wrapper : wrappers) {
            const bool defined_here = std::any_of(own.begin(), own.end(), [&](const Api& api) {
                return api.name == wrapper.name;
            });
            const std::string word = wrapper.name.substr(wrapper.name.rfind(':') + 1);
            if (defined_here || !names_word(text, word)) continue;
            job.request.extra_apis.push_back(wrapper);
            again = true;
        }
        if (again) repeat.push_back(&job);
    }
    return repeat;
}

ApiTable apis_of(const std::vector<ProjectFile>& projects) {
    ApiTable apis = ApiTable::builtin();
    for (const ProjectFile& project : projects) {
        for (const Api& api : project.apis) apis.add(api);
    }
    return apis;
}

}  // namespace

ScanReport run_scan(const ScanOptions& options, SourceText& text, const ScanProgress& progress) {
    ReportFilters filters;
    filters.projects = options.project_file.empty() ? find_project_files(places_of(options))
                                                    : std::vector{read_project_file(options.project_file)};
    if (!options.baseline.empty()) filters.known = read_baseline(options.baseline);
    std::vector<Job> jobs = make_jobs(options, filters.projects);
    // Before the work, so that a wrong revision is found out at once.
    if (!options.changed_since.empty()) filters.changed = changed_since(options.changed_since, folders_of(jobs));
    std::vector<Job*> all;
    for (Job& job : jobs) all.push_back(&job);
    Relevance relevance(apis_of(filters.projects));
    analyse_all(all, options, &relevance, progress);
    analyse_all(jobs_to_repeat(jobs), options, nullptr, progress);

    ScanReport report;
    std::vector<Finding> findings;
    std::vector<FileFacts> facts;
    for (Job& job : jobs) {
        if (!is_failure(job.outcome.state)) {
            std::move(job.result.findings.begin(), job.result.findings.end(), std::back_inserter(findings));
            facts.push_back(std::move(job.result.facts));
        }
        report.files.push_back(std::move(job.outcome));
    }
    std::vector<Finding> joined = join_facts(facts);
    std::move(joined.begin(), joined.end(), std::back_inserter(findings));
    refine(std::move(findings), options, filters, text, report);
    return report;
}

}  // namespace pinwarden::scan
