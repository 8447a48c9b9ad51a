// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The main job: a character model trains under a ZeRO engine, whose states go to the host and back on the
/// way and to the host for good at the end, and every pin is accounted for.

#include "command/train/char_model.hpp"
#include "command/train/pin_observer.hpp"
#include "command/train/progress.hpp"
#include "command/train/summary.hpp"
#include "command/train/text_corpus.hpp"

#include <pinwarden/audit/leak_report.hpp>
#include <pinwarden/backend/selection.hpp>
#include <pinwarden/zero/communicator.hpp>
#include <pinwarden/zero/config.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace pinwarden::command {

/// What to train, and how long.
struct TrainingOptions {
    zero::Config config{};
    CharModelShape shape{};  ///< the vocabulary is the text's, whatever stands here
    std::uint64_t steps = 300;
    std::uint64_t seed = 1;
    zero::CommunicatorPtr ranks = zero::single_rank();  ///< that train together
};

/// What became of it.
struct TrainingResult {
    std::uint64_t steps = 0;          ///< run, skipped ones included
    std::uint64_t skipped_steps = 0;  ///< gradients overflowed, so the parameters were left alone
    double loss_first = 0.0;          ///< mean over the first step's micro-batches
    double loss_last = 0.0;           ///< mean over the last step's
    bool losses_finite = true;        ///< over all steps
    double unigram_entropy = 0.0;
    std::size_t parameter_count = 0;
    double tokens_per_second = 0.0;  ///< of the whole run, on all ranks
    std::size_t ranks = 1;           ///< that the numbers below are of, together

    KernelLocked kernel_locked{};
    std::size_t peak_locked_bytes = 0;
    std::size_t observations = 0;
    std::optional<Disagreement> disagreement{};
    std::vector<audit::PinRecord> records_at_peak{};
    audit::LeakReport final_report{};  ///< of the process, after destroy()
    std::string destroy_error{};       ///< what destroy() threw, if it did
    std::string report_text{};         ///< the final report for people, of ranks that have a pin left

    int stop_signal = 0;  ///< the signal that ended the run early, 0 if none did
};

/// Trains on `text`, and destroys the engine, whatever happens on the way. All ranks call it together, and
/// all get the same result.
/// @param stop is asked after every step; anything but 0, on any rank, ends the training there.
/// @throws what the engine, its configuration or the text refuse with; nothing stays pinned then.
[[nodiscard]] TrainingResult train(const TrainingOptions& options, const TextCorpus& text,
                                   const PinBackendPtr& backend, ProgressLine& progress,
                                   const std::function<int()>& stop);

/// Why the result is not clean, one sentence per reason; none if it is.
[[nodiscard]] std::vector<std::string> complaints(const TrainingResult& result);

/// exit_clean, exit_findings, or exit_by_signal plus the signal.
[[nodiscard]] int exit_status_of(const TrainingResult& result);

/// The same in numbers.
[[nodiscard]] Summary summarise(const TrainingResult& result, const std::string& backend);

}  // namespace pinwarden::command
