// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The ranks that a run was started as: this process alone, or those that `mpirun` started.

#include <pinwarden/zero/communicator.hpp>

#include <memory>

namespace pinwarden::command {

/// The ranks, for as long as the run takes: at most one object in a process.
class Ranks {
public:
    /// @throws UnavailableError if several ranks were started and this build cannot let them talk,
    /// CommunicationError if they cannot.
    Ranks();
    Ranks(const Ranks&) = delete;
    Ranks& operator=(const Ranks&) = delete;
    ~Ranks();

    /// All ranks.
    [[nodiscard]] const zero::CommunicatorPtr& all() const noexcept;

    /// Ends all ranks at once, with this exit status. Does nothing where this process is the only one.
    void end_all(int status) noexcept;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pinwarden::command
