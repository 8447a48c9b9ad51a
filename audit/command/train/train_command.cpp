// SPDX-License-Identifier: Apache-2.0
#include "command/count_option.hpp"
#include "command/exit_status.hpp"
#include "command/output_file.hpp"
#include "command/subcommand.hpp"
#include "command/train/audit_text.hpp"
#include "command/train/default_config.hpp"
#include "command/train/interrupt.hpp"
#include "command/train/progress.hpp"
#include "command/train/ranks.hpp"
#include "command/train/training.hpp"

#include <pinwarden/backend/selection.hpp>
#include <pinwarden/zero/config.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <string>

namespace pinwarden::command {

namespace {

constexpr const char* default_text = "/usr/share/common-licenses/GPL-3";

/// The options of the command line, as they came.
struct Arguments {
    std::optional<std::string> config{};  ///< unset for the default
    std::string text = default_text;
    std::optional<std::string> summary{};
    std::uint64_t steps = TrainingOptions{}.steps;
    std::uint64_t seed = TrainingOptions{}.seed;
    std::uint64_t context = CharModelShape{}.context;
    std::uint64_t embedding = CharModelShape{}.embedding;
    std::uint64_t hidden = CharModelShape{}.hidden;
    std::uint64_t layers = CharModelShape{}.layers;
    bool quiet = false;
    bool print_config = false;
};

TrainingOptions options_of(const Arguments& arguments, const zero::CommunicatorPtr& ranks) {
    return {.config = arguments.config
                          ? zero::read_config_file(*arguments.config, ranks->size())
                          : zero::read_config_text(default_config_text, default_config_origin, ranks->size()),
            .shape = {.context = arguments.context,
                      .embedding = arguments.embedding,
                      .hidden = arguments.hidden,
                      .layers = arguments.layers},
            .steps = arguments.steps,
            .seed = arguments.seed,
            .ranks = ranks};
}

ProgressLine progress_line(const Arguments& arguments, const TrainingOptions& options) {
    constexpr std::uint64_t lines_by_default = 10;
    const std::uint64_t every = options.config.steps_per_print
                                    ? static_cast<std::uint64_t>(*options.config.steps_per_print)
                                    : options.steps / lines_by_default;
    // The first rank speaks for all.
    const bool silent = arguments.quiet || options.ranks->rank() != 0;
    return {stderr, silent ? ProgressLine::Style::silent : ProgressLine::style_for(stderr), every};
}

int run_on(const zero::CommunicatorPtr& ranks, const Arguments& arguments) {
    // All that can be wrong with what was asked is found here, before the work begins.
    const BackendSelection& selection = default_backend();
    const TrainingOptions options = options_of(arguments, ranks);
    const TextCorpus text = TextCorpus::read(arguments.text);
    const bool speaks = ranks->rank() == 0;
    std::optional<OutputFile> summary;
    if (arguments.summary && speaks) summary.emplace(*arguments.summary, "the summary");

    const InterruptGuard interrupt;
    ProgressLine progress = progress_line(arguments, options);
    const TrainingResult result =
        train(options, text, selection.backend, progress, [&interrupt] { return interrupt.signal(); });
    progress.finish();

    const RunDescription description{.config = arguments.config.value_or(std::string(default_config_origin)),
                                     .text = arguments.text,
                                     .backend = std::string(selection.backend->name()),
                                     .backend_reason = selection.reason};
    if (speaks) write_to_standard_output(audit_text(description, options, text, result));
    if (summary) summary->commit(to_json(summarise(result, description.backend)));
    return exit_status_of(result);
}

int run(const Arguments& arguments) {
    if (arguments.print_config) {
        write_to_standard_output(default_config_text);
        return exit_clean;
    }
    Ranks ranks;
    const zero::CommunicatorPtr& all = ranks.all();
    try {
        return run_on(all, arguments);
    } catch (const std::exception& error) {
        if (all->size() == 1) throw;
        // The others may be waiting for this rank, and would wait for ever.
        std::string text = error.what();
        std::replace(text.begin(), text.end(), '\n', ' ');
        fmt::print(stderr, "pinwarden train: error: rank {} of {}: {}\n", all->rank(), all->size(), text);
        std::fflush(stderr);
        ranks.end_all(exit_could_not_run);
        throw;
    }
}

}  // namespace

void add_train(CLI::App& program, int& exit_status) {
    const auto arguments = std::make_shared<Arguments>();
    CLI::App* const train = program.add_subcommand(
        "train",
        "Train a character model under ZeRO, offload its states, destroy the engine, audit the pins\n"
        "Under mpirun each process is a rank, and one audit is printed for all.\n"
        "Exit status: 0 clean, 1 a pin is left or the training is not sound, 2 could not run,\n"
        "128 + N stopped by signal N");
    train
        ->add_option("--config", arguments->config,
                     "DeepSpeed JSON file [docs/examples/zero2.json, built in]")
        ->type_name("FILE");
    train->add_option("--text", arguments->text, "Any file to learn from, byte by byte")
        ->type_name("FILE")
        ->capture_default_str();
    train->add_option("--summary", arguments->summary, "Write the result as JSON to this file")
        ->type_name("FILE");

    constexpr std::uint64_t most_steps = 1'000'000'000;
    constexpr std::uint64_t largest_size = 1'000'000;
    constexpr std::uint64_t most_layers = 1'000;
    add_count_option(*train, "--steps", arguments->steps, {1, most_steps}, "Optimizer steps");
    add_count_option(*train, "--seed", arguments->seed, {0, UINT64_MAX},
                     "Decides the initial values and the batches");
    add_count_option(*train, "--context", arguments->context, {1, largest_size},
                     "Characters the model looks at");
    add_count_option(*train, "--embedding", arguments->embedding, {1, largest_size}, "Numbers per character");
    add_count_option(*train, "--hidden", arguments->hidden, {1, largest_size}, "Units per hidden layer");
    add_count_option(*train, "--layers", arguments->layers, {1, most_layers}, "Hidden layers");
    train->add_flag("--quiet", arguments->quiet, "No progress, only the audit");
    train->add_flag("--print-config", arguments->print_config, "Print the built-in configuration and exit");
    train->callback([arguments, &exit_status] { exit_status = run(*arguments); });
}

}  // namespace pinwarden::command
