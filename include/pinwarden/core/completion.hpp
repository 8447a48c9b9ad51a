// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// A point in an asynchronous queue of work, as the host sees it.
///
/// A handle remembers one for every use of its memory that may still be running. Memory is unpinned or reused only
/// after each of them is complete *on the host*: the order of a stream protects the device's work, not the host's
/// stores.

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include <pinwarden/core/export.hpp>

namespace pinwarden {

/// Answers whether work queued up to some point has finished. Implementations are thread-safe.
class PINWARDEN_API CompletionToken {
public:
    CompletionToken() = default;
    CompletionToken(const CompletionToken&) = delete;
    CompletionToken& operator=(const CompletionToken&) = delete;
    virtual ~CompletionToken();

    /// Whether the work is finished and its effects are visible to the host; once true, true for good.
    [[nodiscard]] virtual bool is_complete() const noexcept = 0;

    /// Blocks until the work is finished or `timeout` has passed, and answers is_complete().
    [[nodiscard]] virtual bool wait_for(std::chrono::nanoseconds timeout) const noexcept = 0;

    /// Whether is_complete() has answered without knowing, because the runtime that ran the work is going away: the
    /// memory may be left to the system, but nobody may use it again.
    [[nodiscard]] virtual bool is_abandoned() const noexcept { return false; }

    /// The queue the work is in: a number that no other queue of this process ever has, before or after.
    [[nodiscard]] virtual std::uint64_t queue() const noexcept = 0;

    /// The same for reports: the stream's name.
    [[nodiscard]] virtual std::string queue_name() const = 0;
};

/// Shared ownership of a token: the recorded point lives as long as anybody waits for it, also past its stream.
using CompletionTokenPtr = std::shared_ptr<const CompletionToken>;

/// A point that is never reached: for work of which nobody can tell any more when it is over. Its memory then stays in
/// flight for good. Costs nothing and needs no memory.
[[nodiscard]] PINWARDEN_API CompletionTokenPtr lost_work() noexcept;

/// Blocks until `token`'s work is finished, however long that takes.
PINWARDEN_API void wait_until_complete(const CompletionToken& token) noexcept;

}  // namespace pinwarden
