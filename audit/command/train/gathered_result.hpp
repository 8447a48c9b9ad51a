// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// One result of what all ranks found, each in its own process.

#include "command/train/training.hpp"

#include <pinwarden/zero/communicator.hpp>

#include <string>

namespace pinwarden::command {

/// Gathers the results of all ranks, which all call it; every rank gets the same. Sizes and counts are added
/// up, pins carry their rank in their label. Of a single rank, its own result as it is.
/// @throws CommunicationError, std::bad_alloc
[[nodiscard]] TrainingResult gather_results(TrainingResult own, zero::Communicator& ranks);

// What goes from rank to rank: the result as JSON, and back with a rank's number in labels and errors.
[[nodiscard]] std::string audit_to_json(const TrainingResult& result);
void add_from_json(TrainingResult& sum, const std::string& json, std::size_t rank);

}  // namespace pinwarden::command
