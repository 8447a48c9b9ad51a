// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The audit of a training run, for people.

#include "command/train/training.hpp"

#include <string>

namespace pinwarden::command {

/// What the audit says about where the run's input came from.
struct RunDescription {
    std::string config;          ///< file, or name of the built-in configuration
    std::string text;            ///< file
    std::string backend;         ///< name
    std::string backend_reason;  ///< why that one
};

/// The whole audit: the run, the pins by label and state at the peak and at the end, the kernel's count, the
/// verdict.
[[nodiscard]] std::string audit_text(const RunDescription& description, const TrainingOptions& options,
                                     const TextCorpus& text, const TrainingResult& result);

}  // namespace pinwarden::command
