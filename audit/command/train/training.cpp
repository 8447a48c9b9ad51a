// SPDX-License-Identifier: Apache-2.0
#include "command/train/training.hpp"

#include "command/exit_status.hpp"
#include "command/train/gathered_result.hpp"
#include "command/train/random.hpp"

#include <pinwarden/accelerator/cpu_accelerator.hpp>
#include <pinwarden/audit/registry.hpp>
#include <pinwarden/core/bytes.hpp>
#include <pinwarden/zero/engine.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <utility>

namespace pinwarden::command {

namespace {

/// The model's parameters as the engine takes them: weight decay for the matrices, none for the rest.
std::vector<zero::ParameterGroup> parameter_groups(const CharModel& model, gsl::span<const float> initial) {
    std::vector<zero::ParameterGroup> groups(2);
    groups[0].name = "matrices";
    groups[1].name = "embeddings_and_biases";
    groups[1].weight_decay = 0.0;
    for (const ModelTensor& tensor : model.tensors()) {
        groups[tensor.decays ? 0 : 1].parameters.push_back(
            {.name = tensor.name, .initial = initial.subspan(tensor.offset, tensor.size())});
    }
    return groups;
}

/// Where batches come from: the text, at places that the seed decides.
struct BatchSource {
    const TextCorpus& text;
    std::size_t windows;
    std::size_t context;
    RandomEngine random;

    [[nodiscard]] Batch next() { return text.random_batch(windows, context, random); }
};

/// One step of all its micro-batches, which the ranks take in turn; returns their mean loss. All
/// ranks draw all batches, so that the same ones are learnt from whatever the number of ranks.
double run_step(zero::Engine& engine, const CharModel& model, BatchSource& batches,
                zero::Communicator& ranks) {
    const auto own = static_cast<std::size_t>(engine.config().gradient_accumulation_steps);
    std::vector<double> losses(own * ranks.size(), 0.0);
    for (std::size_t i = 0; i < losses.size(); ++i) {
        const Batch batch = batches.next();
        if (i % ranks.size() != ranks.rank()) continue;
        losses[i] = engine.backward([&](gsl::span<const float> parameters, gsl::span<float> gradients) {
            return model.loss_and_gradients<float>(parameters, batch, gradients);
        });
    }
    engine.step();
    ranks.all_reduce(losses, zero::Reduction::sum);
    double sum = 0.0;
    for (const double loss : losses) sum += loss;
    return sum / static_cast<double>(losses.size());
}

/// The signal that has reached one of the ranks, 0 if none did.
int agreed_signal(int own, zero::Communicator& ranks) {
    std::array<double, 1> signal{static_cast<double>(own)};
    ranks.all_reduce(signal, zero::Reduction::maximum);
    return static_cast<int>(signal[0]);
}

/// The name of this rank's engine.
std::string engine_name(const zero::Communicator& ranks) {
    return ranks.size() == 1 ? std::string("train") : fmt::format("train rank {}", ranks.rank());
}

/// Time from its construction on.
class Stopwatch {
public:
    [[nodiscard]] double seconds() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    }

private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

std::size_t pinned_now() {
    return audit::Registry::instance().counts().locked_bytes();
}

/// All states to pinned host memory and home again, while the copies run as they like.
void visit_host(zero::Engine& engine, PinObserver& observer, ProgressLine& progress, std::uint64_t step) {
    engine.offload_states(zero::OffloadStates::all(), Pinning::pinned, true);
    observer.observe();
    const std::size_t offloaded = pinned_now();
    engine.reload_states(true);
    observer.observe();
    progress.note(fmt::format("after step {}: offloaded all states, {} pinned, and reloaded them", step,
                              format_bytes(offloaded)));
}

/// The training proper: fills in what `result` says of steps and losses.
void run_steps(const TrainingOptions& options, zero::Engine& engine, const CharModel& model,
               BatchSource& batches, PinObserver& observer, ProgressLine& progress,
               const std::function<int()>& stop, TrainingResult& result) {
    const std::uint64_t halfway = std::max<std::uint64_t>(options.steps / 2, 1);
    zero::Communicator& ranks = *options.ranks;
    const double tokens_per_step = static_cast<double>(batches.windows) *
                                   static_cast<double>(options.config.gradient_accumulation_steps) *
                                   static_cast<double>(ranks.size());
    const Stopwatch watch;
    while (result.steps < options.steps && result.stop_signal == 0) {
        const double loss = run_step(engine, model, batches, ranks);
        // The engine pins nothing while it trains, so nobody would release in passing what a visit left in
        // flight.
        audit::Registry::instance().collect();
        if (result.steps == 0) result.loss_first = loss;
        result.loss_last = loss;
        result.losses_finite = result.losses_finite && std::isfinite(loss);
        ++result.steps;
        result.tokens_per_second = tokens_per_step * static_cast<double>(result.steps) / watch.seconds();
        observer.observe();
        progress.show({.step = result.steps,
                       .steps = options.steps,
                       .loss = loss,
                       .tokens_per_second = result.tokens_per_second,
                       .pinned_bytes = pinned_now()});
        if (result.steps == halfway) visit_host(engine, observer, progress, result.steps);
        result.stop_signal = agreed_signal(stop(), ranks);
    }
    result.skipped_steps = static_cast<std::uint64_t>(engine.skipped_steps());
}

}  // namespace

TrainingResult train(const TrainingOptions& options, const TextCorpus& text, const PinBackendPtr& backend,
                     ProgressLine& progress, const std::function<int()>& stop) {
    // Refuses a text that is too short before any work.
    static_cast<void>(text.window_count(options.shape.context));
    CharModelShape shape = options.shape;
    shape.vocabulary = text.vocabulary();
    const CharModel model(shape);
    const auto windows = static_cast<std::size_t>(options.config.train_micro_batch_size_per_gpu);
    BatchSource batches{text, windows, shape.context, RandomEngine(options.seed)};

    TrainingResult result;
    result.unigram_entropy = text.unigram_entropy();
    result.parameter_count = model.parameter_count();
    PinObserver observer;
    {
        const auto initial = model.initial_parameters(options.seed);
        const auto groups = parameter_groups(model, initial);
        zero::Engine engine(options.config, make_cpu_accelerator(), groups,
                            {.backend = backend,
                             .name = engine_name(*options.ranks),
                             .communicator = options.ranks});
        observer.observe();
        run_steps(options, engine, model, batches, observer, progress, stop, result);

        // Offload, and destroy without a reload: the very order in which pins are easily forgotten.
        engine.offload_states(zero::OffloadStates::all(), Pinning::pinned, true);
        observer.observe();
        progress.note(
            fmt::format("after step {}: offloaded all states for good, {} pinned; destroying the engine",
                        result.steps, format_bytes(pinned_now())));
        try {
            engine.destroy();
        } catch (const std::exception& error) {
            result.destroy_error = error.what();
        }
        observer.observe();
    }
    result.final_report = audit::LeakReport::of_process();
    result.kernel_locked = observer.kernel_locked();
    result.peak_locked_bytes = PinObserver::peak_locked_bytes();
    result.observations = observer.observations();
    result.disagreement = observer.disagreement();
    result.records_at_peak = observer.records_at_peak();
    result.ranks = options.ranks->size();
    return gather_results(std::move(result), *options.ranks);
}

std::vector<std::string> complaints(const TrainingResult& result) {
    std::vector<std::string> reasons;
    const audit::Counts& counts = result.final_report.counts;
    const auto complain_of = [&](const audit::Tally& tally, const char* state) {
        if (tally.pins == 0) return;
        reasons.push_back(fmt::format("{} {} with {} {}", tally.pins, tally.pins == 1 ? "pin" : "pins",
                                      format_bytes(tally.locked_bytes), state));
    };
    complain_of(counts.live, "still live");
    complain_of(counts.in_flight, "still in flight");
    complain_of(counts.quarantined, "quarantined: unpinning failed");
    if (!result.destroy_error.empty()) reasons.push_back("destroy() failed: " + result.destroy_error);
    if (result.kernel_locked.after != result.kernel_locked.before) {
        reasons.push_back(fmt::format("the kernel counts {} as locked after {} before",
                                      format_bytes(result.kernel_locked.after),
                                      format_bytes(result.kernel_locked.before)));
    }
    if (result.disagreement) {
        reasons.push_back(fmt::format("the registry counted {} as locked when the kernel counted {}",
                                      format_bytes(result.disagreement->registry_bytes),
                                      format_bytes(result.disagreement->kernel_bytes)));
    }
    if (!result.losses_finite) reasons.emplace_back("the loss was not finite in at least one step");
    return reasons;
}

int exit_status_of(const TrainingResult& result) {
    if (!complaints(result).empty()) return exit_findings;
    return result.stop_signal == 0 ? exit_clean : exit_by_signal + result.stop_signal;
}

Summary summarise(const TrainingResult& result, const std::string& backend) {
    return {.steps = result.steps,
            .loss_first = result.loss_first,
            .loss_last = result.loss_last,
            .unigram_entropy = result.unigram_entropy,
            .peak_pinned_bytes = result.peak_locked_bytes,
            .vmlck_bytes = result.kernel_locked,
            .live_pins = result.final_report.counts.live.pins,
            .backend = backend};
}

}  // namespace pinwarden::command
