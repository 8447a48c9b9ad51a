// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// What an engine with SuperOffload may be told besides its configuration, and the errors of its workers.
///
/// `offload_optimizer.super_offload` and `offload_optimizer.cpuadam_cores_perc` are matters of the
/// configuration file; what is here has no name in it.
///
/// ```
/// zero::EngineOptions options;
/// options.super_offload.timeout = std::chrono::seconds(5);
/// zero::Engine engine(config, accelerator, groups, options);
/// ```

#include <chrono>
#include <cstddef>
#include <functional>

#include <pinwarden/core/error.hpp>
#include <pinwarden/core/export.hpp>

namespace pinwarden::zero {

/// A worker of host Adam failed or was lost; what it threw, if anything, is nested
/// (`std::rethrow_if_nested`).
class PINWARDEN_API WorkerError : public Error {
public:
    using Error::Error;
};

/// The workers of host Adam did not get on within the time-out.
class PINWARDEN_API WorkerTimeoutError : public WorkerError {
public:
    using WorkerError::WorkerError;
};

/// How the workers of host Adam are run.
struct SuperOffloadOptions {
    std::size_t workers = 0;  ///< threads; 0 for one on each core that `cpuadam_cores_perc` gives
    std::size_t queue_capacity =
        8;  ///< sub-groups that may wait; who has more to hand over waits, 1 at least
    std::chrono::nanoseconds timeout = std::chrono::seconds(60);  ///< how long nothing may get on
    /// Called on the worker's thread before it steps a sub-group, with its number within the step, counted
    /// from 0: for progress reports and for tests. What it throws fails the step, and none of the engine's
    /// memory is in use by the worker while it runs. Several threads may call it at once.
    std::function<void(std::size_t sub_group)> before_sub_group{};
};

}  // namespace pinwarden::zero
