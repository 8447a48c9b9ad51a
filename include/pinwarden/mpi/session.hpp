// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The ranks that `mpirun` started, each a process of its own.
///
/// ```
/// mpi::Session session;     // at the beginning of main()
/// zero::Engine engine(zero::read_config_file("zero3.json", session.world()->size()), accelerator, groups,
///                     {.communicator = session.world()});
/// ```
/// Cost: each call of a communicator first exchanges 128 bytes with every rank, to tell calls that differ;
/// parts travel in messages from rank to rank.
///
/// What MPI cannot do: a rank that leaves early is waited for. A process that ends without its session does
/// end the others, since `mpirun` ends them; so does abort().

#include <memory>

#include <pinwarden/core/export.hpp>
#include <pinwarden/zero/communicator.hpp>

namespace pinwarden::mpi {

/// Whether this process was started as one of several ranks, as the launcher's environment says.
[[nodiscard]] PINWARDEN_API bool is_launched() noexcept;

/// The use of MPI by this process: at most one in its life. Its engines and communicators go before it.
class PINWARDEN_API Session {
public:
    /// Initialises MPI, so that one thread at a time may communicate, whichever it is.
    /// @throws zero::CommunicationError if MPI refuses, or was initialised before.
    Session();

    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    /// Waits for the other ranks' sessions to end. While an exception leaves the scope it does not wait, but
    /// ends all ranks with the status 1.
    ~Session();

    /// All ranks.
    [[nodiscard]] const zero::CommunicatorPtr& world() const noexcept { return world_; }

    /// Ends all ranks at once, this one included, with the given exit status; says nothing.
    [[noreturn]] void abort(int status) noexcept;

private:
    zero::CommunicatorPtr world_;
    int exceptions_ = 0;  // that were on their way when the session began
};

}  // namespace pinwarden::mpi
