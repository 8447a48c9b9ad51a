// SPDX-License-Identifier: Apache-2.0
#include <command/exit_status.hpp>
#include <command/train/default_config.hpp>
#include <command/train/training.hpp>

#include <pinwarden/audit/registry.hpp>
#include <pinwarden/backend/native_backend.hpp>
#include <pinwarden/backend/scripted_backend.hpp>
#include <pinwarden/core/error.hpp>
#include <pinwarden/own/pinned_buffer.hpp>

#include <catch2/catch_test_macros.hpp>

#include <csignal>
#include <memory>

using namespace pinwarden;
using namespace pinwarden::command;

namespace {

const std::string sentence =
    "pack my box with five dozen liquor jugs; the five boxing wizards jump quickly. ";

TextCorpus short_text() {
    return {sentence + sentence + sentence, "a sentence"};
}

/// A training of some milliseconds, apart from its sizes the default one.
TrainingOptions small_training(std::uint64_t steps) {
    TrainingOptions options{.config = zero::read_config_text(default_config_text, default_config_origin),
                            .shape = {.context = 4, .embedding = 4, .hidden = 16},
                            .steps = steps};
    options.config.train_micro_batch_size_per_gpu = 16;
    return options;
}

TrainingResult run(
    const TrainingOptions& options, const PinBackendPtr& backend,
    const std::function<int()>& stop = [] { return 0; }) {
    ProgressLine progress(stderr, ProgressLine::Style::silent, 1);
    return train(options, short_text(), backend, progress, stop);
}

/// A result that nobody can complain of.
TrainingResult clean_result() {
    return {.steps = 3, .loss_first = 3.0, .loss_last = 2.0};
}

}  // namespace

TEST_CASE("A training learns, pins all states on the way, and leaves nothing behind") {
    const auto before = audit::Registry::instance().counts();
    const TrainingResult result = run(small_training(60), native_backend());
    CHECK(complaints(result).empty());
    CHECK(exit_status_of(result) == exit_clean);
    CHECK(result.steps == 60);
    CHECK(result.loss_last < result.loss_first - 0.5);
    CHECK(result.loss_last < result.unigram_entropy);
    CHECK(audit::Registry::instance().counts() == before);
    CHECK(result.kernel_locked.after == result.kernel_locked.before);
    // Parameters and gradients take 2 bytes each, master parameters 4, Adam's moments 8.
    CHECK(result.peak_locked_bytes >= 16 * result.parameter_count);
    CHECK(result.kernel_locked.peak - result.kernel_locked.before == result.peak_locked_bytes);
    CHECK(!result.records_at_peak.empty());
    CHECK(result.observations >= 60);
}

TEST_CASE("The seed decides the whole run, to the last bit of the loss") {
    TrainingOptions options = small_training(5);
    const TrainingResult result = run(options, native_backend());
    CHECK(run(options, native_backend()).loss_last == result.loss_last);
    options.seed = 2;
    CHECK(run(options, native_backend()).loss_last != result.loss_last);
}

TEST_CASE("The visit to the host on the way does not change the training") {
    // Seven steps visit the host after the third one, nine after the fourth: the first seven losses are the
    // same.
    std::uint64_t asked = 0;
    const TrainingResult nine =
        run(small_training(9), native_backend(), [&] { return ++asked == 7 ? SIGINT : 0; });
    CHECK(nine.steps == 7);
    CHECK(run(small_training(7), native_backend()).loss_last == nine.loss_last);
}

TEST_CASE("A single step is a whole training, visits to the host included") {
    const TrainingResult result = run(small_training(1), native_backend());
    CHECK(complaints(result).empty());
    CHECK(result.loss_first == result.loss_last);
    CHECK(result.peak_locked_bytes > 0);
}

TEST_CASE("A signal ends the training after the step, with the audit done") {
    const TrainingResult result = run(small_training(50), native_backend(), [] { return SIGTERM; });
    CHECK(result.steps == 1);
    CHECK(result.peak_locked_bytes > 0);
    CHECK(exit_status_of(result) == 128 + SIGTERM);
}

TEST_CASE("A pin that somebody still holds at the end is found, with its label and line") {
    const PinnedBuffer<float> forgotten(100, {.backend = native_backend(), .label = "forgotten"});
    const TrainingResult result = run(small_training(2), native_backend());
    CHECK(exit_status_of(result) == exit_findings);
    CHECK(summarise(result, "native").live_pins == 1);
    REQUIRE(result.final_report.records.size() == 1);
    CHECK(result.final_report.records.front().label == "forgotten");
}

TEST_CASE("Locks that the kernel knows nothing of are found") {
    const TrainingResult result = run(small_training(2), std::make_shared<ScriptedBackend>());
    CHECK(result.disagreement);
    CHECK(exit_status_of(result) == exit_findings);
}

TEST_CASE("A refused pin ends the training with the refusal, and nothing stays pinned") {
    const auto backend = std::make_shared<ScriptedBackend>(native_backend());
    backend->fail_acquire(4);
    const auto before = audit::Registry::instance().counts();
    CHECK_THROWS_AS(run(small_training(2), backend), PinError);
    CHECK(backend->outstanding().empty());
    CHECK(audit::Registry::instance().counts() == before);
}

TEST_CASE("A text that is too short for the context is refused before anything is pinned") {
    const auto backend = std::make_shared<ScriptedBackend>();
    TrainingOptions options = small_training(2);
    options.shape.context = 10'000;
    CHECK_THROWS_AS(run(options, backend), ConfigurationError);
    CHECK(backend->acquire_count() == 0);
}

TEST_CASE("Each way of not being clean is a complaint of its own, and none is lost to a signal") {
    CHECK(complaints(clean_result()).empty());
    const auto check_one = [](const TrainingResult& result, std::string_view word) {
        const auto reasons = complaints(result);
        REQUIRE(reasons.size() == 1);
        CHECK(reasons.front().find(word) != std::string::npos);
        CHECK(exit_status_of(result) == exit_findings);
    };
    TrainingResult result = clean_result();
    result.final_report.counts.live = {1, 10, 4096};
    check_one(result, "1 pin with 4096 bytes (4.0 KiB) still live");
    result.stop_signal = SIGINT;
    check_one(result, "live");
    result = clean_result();
    result.final_report.counts.in_flight = {2, 10, 8192};
    check_one(result, "2 pins with 8192 bytes (8.0 KiB) still in flight");
    result = clean_result();
    result.final_report.counts.quarantined = {1, 10, 4096};
    check_one(result, "quarantined");
    result = clean_result();
    result.destroy_error = "the stream is stuck";
    check_one(result, "the stream is stuck");
    result = clean_result();
    result.kernel_locked = {.before = 0, .peak = 8192, .after = 4096};
    check_one(result, "kernel");
    result = clean_result();
    result.disagreement = Disagreement{.registry_bytes = 1, .kernel_bytes = 2};
    check_one(result, "registry");
    result = clean_result();
    result.losses_finite = false;
    check_one(result, "finite");
}
