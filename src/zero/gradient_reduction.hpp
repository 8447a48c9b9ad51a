// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The way of a micro-batch's gradients: through the bucket, over the ranks, into `lp_grads`.

#include <cstddef>
#include <memory>
#include <vector>

#include <gsl/span>

#include <pinwarden/zero/communicator.hpp>
#include <pinwarden/zero/low_precision.hpp>

#include "zero/layout.hpp"
#include "zero/reduction_progress.hpp"

namespace pinwarden::zero {

/// What one micro-batch's gradients are to be added to, and how.
struct Accumulation {
    LowPrecision format = LowPrecision::bf16;
    bool first = true;                             ///< the first micro-batch of a step replaces what is there
    bool last = true;                              ///< the last one of a step
    gsl::span<const std::byte> gradients{};        ///< the micro-batch's, of all groups one after the other
    gsl::span<std::byte> bucket{};                 ///< contiguous_grad_buffer
    std::vector<gsl::span<std::byte>> lp_grads{};  ///< per group: the shard, or all where it is not divided
    std::shared_ptr<const EngineLayout> layout{};
    CommunicatorPtr ranks{};
    std::shared_ptr<ReductionProgress> progress{};  ///< told of every bucket that is complete; may be null
};

/// Accumulates: divided gradients are reduced bucket by bucket and added to the shard; undivided ones are
/// added up first and reduced with the last micro-batch of a step. All ranks call it together.
/// @throws CommunicationError, std::bad_alloc if the ranks could not reduce; never in a group of one.
void accumulate_micro_batch(const Accumulation& accumulation);

}  // namespace pinwarden::zero
