// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// One piece of work in a stream's queue, linked into it without further memory.

#include <cstdint>
#include <memory>

namespace pinwarden::detail {

/// Queued by work_queue.hpp, run once by its worker and destroyed right after.
class WorkItem {
public:
    WorkItem() = default;
    WorkItem(const WorkItem&) = delete;
    WorkItem& operator=(const WorkItem&) = delete;
    virtual ~WorkItem() = default;

    /// Does the work. What it throws becomes the stream's failure.
    virtual void run() = 0;

private:
    friend class WorkQueue;
    std::unique_ptr<WorkItem> next_;
    std::uint64_t number_ = 0;  // its place in the queue, counted from one
};

}  // namespace pinwarden::detail
