// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/mpi/session.hpp>

#include <array>
#include <cstdlib>
#include <exception>

#include <fmt/format.h>
#include <mpi.h>

#include "mpi/mpi_communicator.hpp"

namespace pinwarden::mpi {
namespace {

void require(int answer, const char* call) {
    if (answer == MPI_SUCCESS) return;
    throw zero::CommunicationError(
        fmt::format("{} answered {}; start the ranks with the mpirun that belongs to "
                    "the MPI library of this build",
                    call, error_text(answer)));
}

}  // namespace

bool is_launched() noexcept {
    // Open MPI's, then that of the launchers which speak PMI.
    constexpr std::array variables{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};
    for (const char* const variable : variables) {
        const char* const value = std::getenv(variable);
        if (value != nullptr && std::atoi(value) > 1) return true;
    }
    return false;
}

Session::Session() : exceptions_(std::uncaught_exceptions()) {
    int initialised = 0;
    MPI_Initialized(&initialised);
    if (initialised != 0) {
        throw zero::CommunicationError(
            "mpi::Session: MPI is initialised already; make one session per process, before anything else");
    }
    int provided = MPI_THREAD_SINGLE;
    // The threads of an engine's streams communicate as well, one at a time.
    require(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided), "MPI_Init_thread");
    if (provided < MPI_THREAD_SERIALIZED) {
        MPI_Finalize();
        throw zero::CommunicationError(fmt::format(
            "MPI_Init_thread(MPI_THREAD_SERIALIZED) provides level {} only; use an MPI library with "
            "support for threads",
            provided));
    }
    MPI_Comm all = MPI_COMM_NULL;
    require(MPI_Comm_dup(MPI_COMM_WORLD, &all), "MPI_Comm_dup");
    world_ = std::make_shared<MpiCommunicator>(all, "world");
}

Session::~Session() {
    if (std::uncaught_exceptions() > exceptions_) abort(1);
    world_.reset();
    MPI_Finalize();
}

void Session::abort(int status) noexcept {
    MPI_Abort(MPI_COMM_WORLD, status);
    std::abort();  // for a library whose MPI_Abort returns
}

}  // namespace pinwarden::mpi
