// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// A communicator over one of MPI's.

#include <cstddef>
#include <string>

#include <mpi.h>

#include <pinwarden/zero/communicator.hpp>

namespace pinwarden::mpi {

class MpiCommunicator final : public zero::Communicator {
public:
    /// @param handle is used from now on by this object alone. It is never freed: freeing is collective, and
    /// a rank may leave earlier than others; MPI takes it at the end.
    MpiCommunicator(MPI_Comm handle, std::string name);

    [[nodiscard]] std::size_t rank() const noexcept override { return rank_; }
    [[nodiscard]] std::size_t size() const noexcept override { return size_; }
    [[nodiscard]] std::string_view name() const noexcept override { return name_; }

protected:
    void do_barrier(const Call& call) override;
    void do_broadcast(const Call& call, gsl::span<std::byte> data) override;
    void do_all_gather(const Call& call, gsl::span<std::byte> all) override;
    void do_exchange(const Call& call, gsl::span<const std::byte> data,
                     gsl::span<std::byte> received) override;
    std::shared_ptr<zero::Communicator> do_split(const Call& call, std::size_t colour) override;

private:
    void agree(const Call& call) const;
    void require(int answer, const Call& call, std::string_view function) const;

    MPI_Comm handle_;
    std::string name_;
    std::size_t rank_ = 0;
    std::size_t size_ = 1;
};

/// MPI's text for an error.
[[nodiscard]] std::string error_text(int error);

}  // namespace pinwarden::mpi
