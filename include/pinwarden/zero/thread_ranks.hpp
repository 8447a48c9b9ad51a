// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Several ranks in one process, each on a thread of its own: real communication without a launcher.
///
/// ```
/// zero::run_ranks(4, [&](const zero::CommunicatorPtr& ranks) {
///     zero::Engine engine(config, make_cpu_accelerator(), groups, {.communicator = ranks});
///     // ... train ...
///     engine.destroy();
/// });
/// ```
/// All ranks share the process's registry of pins: give each engine a name of its own. Cost: one thread per
/// rank; data is copied once from rank to rank, and ranks wait for each other twice in each call.

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <pinwarden/core/export.hpp>
#include <pinwarden/zero/communicator.hpp>

namespace pinwarden::zero {

/// The ends of a group of `size` ranks, one for each thread. Destroying an end means that its rank has left.
/// @throws CommunicationError if `size` is 0, std::bad_alloc
[[nodiscard]] PINWARDEN_API std::vector<CommunicatorPtr> make_thread_ranks(std::size_t size,
                                                                           std::string name = "threads");

/// Runs `work` once on each of `size` new threads and waits for all of them. A rank whose work throws leaves
/// the group, so that no other waits for it.
/// @throws what the work of a rank threw; if several did, the error that came first, which the other ranks'
///         CommunicationErrors are a consequence of. CommunicationError if `size` is 0.
PINWARDEN_API void run_ranks(std::size_t size, const std::function<void(const CommunicatorPtr&)>& work);

}  // namespace pinwarden::zero
