// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The unbounded queue of one stream and its worker's loop.
///
/// The stream and its worker share the queue, so a worker may finish what is queued after its stream is gone.

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>

#include <accelerator/stream_progress.hpp>
#include <accelerator/work_item.hpp>

namespace pinwarden::detail {

/// Runs items one after the other in the order of push(). No lock is held while one runs. Thread-safe.
class WorkQueue {
public:
    explicit WorkQueue(std::string name);
    ~WorkQueue();
    WorkQueue(const WorkQueue&) = delete;
    WorkQueue& operator=(const WorkQueue&) = delete;

    /// Appends `item` and answers its number. Needs no memory.
    std::uint64_t push(std::unique_ptr<WorkItem> item) noexcept;

    /// The number of the last item pushed; 0 for none.
    [[nodiscard]] std::uint64_t last() const noexcept;

    /// Lets run() return once everything pushed is finished.
    void close() noexcept;

    /// The worker's loop: runs what is pushed until the queue is closed and empty. A failure that nobody has
    /// taken by then goes to the release-failure handler, so that no error is lost.
    void run() noexcept;

    /// The first exception of an item since the last call; null for none.
    [[nodiscard]] std::exception_ptr take_failure() noexcept;

    [[nodiscard]] const std::shared_ptr<StreamProgress>& progress() const noexcept { return progress_; }

    /// Whether the calling thread is this queue's worker, or the worker of any queue.
    [[nodiscard]] bool is_own_worker() const noexcept;
    [[nodiscard]] static bool is_worker() noexcept;

private:
    std::unique_ptr<WorkItem> take() noexcept;
    void run_item(std::unique_ptr<WorkItem> item) noexcept;
    void report_failure(const std::exception_ptr& failure) const noexcept;

    const std::shared_ptr<StreamProgress> progress_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::unique_ptr<WorkItem> head_;
    WorkItem* tail_ = nullptr;
    std::uint64_t last_ = 0;
    bool closed_ = false;
    std::exception_ptr failure_;
};

}  // namespace pinwarden::detail
