// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The threads of host Adam, and what their end, failure or hanging means to the thread that waits for them.
///
/// Whatever becomes of a worker, whoever waits is woken: by the worker's result, by its exception, by the end
/// of its thread, or by the time-out. A worker that cannot be waited for keeps nothing but its own job, which
/// is revoked.

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

#include <pinwarden/superoffload/core_set.hpp>
#include <pinwarden/zero/super_offload_options.hpp>

#include "superoffload/sub_group_job.hpp"

namespace pinwarden::zero {

class WorkerState;

/// Used by one thread at a time.
class AdamWorkers {
public:
    /// Starts the threads on `cores`.
    /// @pre `options.queue_capacity` is at least 1
    /// @throws AffinityError, WorkerError if the system gives no thread.
    AdamWorkers(const CoreSet& cores, SuperOffloadOptions options);
    AdamWorkers(const AdamWorkers&) = delete;
    AdamWorkers& operator=(const AdamWorkers&) = delete;

    /// Revokes what is left, ends the threads and waits for them: see ~SuperOffload.
    ~AdamWorkers();

    /// Hands over a job, after waiting for room.
    /// @throws WorkerError, WorkerTimeoutError; the job is not taken then.
    void submit(const std::shared_ptr<SubGroupJob>& job);

    /// Waits until all jobs handed over since the last cancel() or wait() are finished.
    /// @throws WorkerError, WorkerTimeoutError; cancel() is to be called then.
    void wait();

    /// Revokes all jobs handed over since the last cancel() or wait() and forgets them and their failures.
    /// Waits for no worker that hangs.
    void cancel() noexcept;

    /// Throws what made the workers unusable, if anything did.
    /// @throws WorkerError
    void require_usable() const;

    /// Whether this is the process that made the threads: in its forks there are none.
    [[nodiscard]] bool is_own_process() const noexcept;

private:
    class Patience;

    void start(const CoreSet& cores, std::size_t count);
    void end_threads();
    void throw_what_failed();
    [[noreturn]] void throw_timeout(std::string_view waited_for);

    SuperOffloadOptions options_;
    const std::shared_ptr<WorkerState> state_;        // shared with the threads, which may outlive this
    std::vector<std::shared_ptr<SubGroupJob>> jobs_;  // handed over and not known to be finished
    const pid_t process_;
    std::vector<std::thread> threads_;
};

}  // namespace pinwarden::zero
