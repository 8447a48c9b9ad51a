// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// What the workers of host Adam share with the thread that hands them work: the queue, what has become of
/// the jobs and of the workers themselves.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "superoffload/bounded_queue.hpp"
#include "superoffload/sub_group_job.hpp"

namespace pinwarden::zero {

/// Thread-safe.
class WorkerState {
public:
    WorkerState(std::size_t queue_capacity, std::function<void(std::size_t)> before_sub_group);

    /// How many threads will call run_worker(). To be called before they do.
    void expect_threads(std::size_t count) { has_ended_.assign(count, false); }

    /// The loop of thread `index`: runs jobs until the state is closed. Not `noexcept`: the thread may be
    /// ended within, which unwinds its stack.
    void run_worker(std::size_t index);

    [[nodiscard]] Push push(std::shared_ptr<SubGroupJob>& job, std::chrono::nanoseconds patience) {
        return queue_.push(job, patience);
    }

    /// Blocks until the job is finished, something has failed, or `patience` has passed, and answers whether
    /// the job is finished.
    [[nodiscard]] bool wait_for_job(const SubGroupJob& job, std::chrono::nanoseconds patience);

    /// Blocks until thread `index` has left run_worker() or `deadline` has passed, and answers whether it
    /// has.
    [[nodiscard]] bool wait_for_end(std::size_t index, std::chrono::steady_clock::time_point deadline);

    /// The first exception of a job that was not revoked, and which job it was; null for none.
    [[nodiscard]] std::exception_ptr take_failure(std::size_t& sub_group) noexcept;

    /// Forgets the failure and what is queued. The jobs were revoked before.
    void forget() noexcept;

    /// Lets the threads end once the queue is empty.
    void close() noexcept { queue_.close(); }

    /// Makes the state unusable because the workers hang.
    void give_up(const std::string& why);

    [[nodiscard]] bool is_broken() const noexcept;
    [[nodiscard]] bool is_hung() const noexcept;

    /// @throws WorkerError that says why the workers are unusable.
    [[noreturn]] void throw_broken() const;

    /// A number that grows whenever a worker gets on.
    [[nodiscard]] std::uint64_t progress() const noexcept { return progress_; }

private:
    class EndNotice;

    void run(SubGroupJob& job);
    void finish(SubGroupJob& job, std::exception_ptr failure);
    void end(std::size_t index, bool regular, const SubGroupJob* running) noexcept;

    const std::function<void(std::size_t)> before_sub_group_;
    BoundedQueue<std::shared_ptr<SubGroupJob>> queue_;
    std::atomic<std::uint64_t> progress_ = 0;

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<bool> has_ended_;
    std::exception_ptr failure_;
    std::size_t failed_sub_group_ = 0;
    bool broken_ = false;
    bool hung_ = false;
    std::string why_broken_;
};

}  // namespace pinwarden::zero
