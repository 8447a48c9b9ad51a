// SPDX-License-Identifier: Apache-2.0
#include "mpi/mpi_communicator.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "zero/sizes_text.hpp"

namespace pinwarden::mpi {
namespace {

// MPI counts in int; what is larger goes in several messages, which arrive in their order.
constexpr std::size_t largest_message = std::size_t{1} << 30U;

// What ranks compare before each call: the beginning of its text, and a hash of all of it.
constexpr std::size_t card_bytes = 128;
using Card = std::array<char, card_bytes>;

Card card_of(const std::string& text) {
    Card card{};
    const std::string tail = fmt::format(" #{:016x}", std::hash<std::string>{}(text));
    const std::size_t room = card_bytes - 1 - tail.size();
    const std::string whole = text.substr(0, room) + tail;
    std::copy(whole.begin(), whole.end(), card.begin());
    return card;
}

// Messages under way.
class Messages {
public:
    void send(MPI_Comm comm, std::size_t rank, gsl::span<const std::byte> data, int& answer) {
        in_parts(
            data,
            [&](gsl::span<const std::byte> part, MPI_Request* request) {
                return MPI_Isend(part.data(), static_cast<int>(part.size()), MPI_BYTE, static_cast<int>(rank),
                                 0, comm, request);
            },
            answer);
    }

    void receive(MPI_Comm comm, std::size_t rank, gsl::span<std::byte> data, int& answer) {
        in_parts(
            data,
            [&](gsl::span<std::byte> part, MPI_Request* request) {
                return MPI_Irecv(part.data(), static_cast<int>(part.size()), MPI_BYTE, static_cast<int>(rank),
                                 0, comm, request);
            },
            answer);
    }

    [[nodiscard]] int wait() {
        return MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    }

private:
    template <typename T, typename Start>
    void in_parts(gsl::span<T> data, Start start, int& answer) {
        for (std::size_t begin = 0; begin < data.size() && answer == MPI_SUCCESS; begin += largest_message) {
            MPI_Request request = MPI_REQUEST_NULL;
            answer = start(data.subspan(begin, std::min(largest_message, data.size() - begin)), &request);
            requests_.push_back(request);
        }
    }

    std::vector<MPI_Request> requests_;
};

}  // namespace

std::string error_text(int error) {
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    if (MPI_Error_string(error, text.data(), &length) != MPI_SUCCESS) return fmt::format("error {}", error);
    return {text.data(), static_cast<std::size_t>(length)};
}

MpiCommunicator::MpiCommunicator(MPI_Comm handle, std::string name)
    : handle_(handle), name_(std::move(name)) {
    int rank = 0;
    int size = 1;
    MPI_Comm_set_errhandler(handle_, MPI_ERRORS_RETURN);
    MPI_Comm_rank(handle_, &rank);
    MPI_Comm_size(handle_, &size);
    rank_ = static_cast<std::size_t>(rank);
    size_ = static_cast<std::size_t>(size);
}

void MpiCommunicator::require(int answer, const Call& call, std::string_view function) const {
    if (answer == MPI_SUCCESS) return;
    throw zero::CommunicationError(
        fmt::format("{}: {} answered {}; end all ranks and see what the launcher "
                    "says of them",
                    describe(call), function, error_text(answer)));
}

// Data of different sizes would be cut or waited for without end, so the ranks compare their calls first.
void MpiCommunicator::agree(const Call& call) const {
    const Card mine =
        card_of(fmt::format("{} of {}, root {}", call.operation, zero::sizes_text(call.sizes), call.root));
    std::vector<Card> cards(size_);
    require(MPI_Allgather(mine.data(), static_cast<int>(card_bytes), MPI_BYTE, cards.data(),
                          static_cast<int>(card_bytes), MPI_BYTE, handle_),
            call, "MPI_Allgather");
    for (std::size_t odd = 1; odd < size_; ++odd) {
        if (cards[odd] == cards.front()) continue;
        throw zero::CommunicationError(
            fmt::format("{}: the ranks make different calls: rank 0 {}, rank {} {}", describe(call),
                        cards.front().data(), odd, cards[odd].data()));
    }
}

void MpiCommunicator::do_barrier(const Call& call) { agree(call); }

void MpiCommunicator::do_broadcast(const Call& call, gsl::span<std::byte> data) {
    agree(call);
    for (std::size_t begin = 0; begin < data.size(); begin += largest_message) {
        const auto part = data.subspan(begin, std::min(largest_message, data.size() - begin));
        require(MPI_Bcast(part.data(), static_cast<int>(part.size()), MPI_BYTE, static_cast<int>(call.root),
                          handle_),
                call, "MPI_Bcast");
    }
}

void MpiCommunicator::do_all_gather(const Call& call, gsl::span<std::byte> all) {
    agree(call);
    Messages messages;
    int answer = MPI_SUCCESS;
    std::vector<gsl::span<std::byte>> parts;
    std::size_t offset = 0;
    for (const std::size_t bytes : call.sizes) {
        parts.push_back(all.subspan(offset, bytes));
        offset += bytes;
    }
    for (std::size_t other = 0; other < size_; ++other) {
        if (other == rank_) continue;
        messages.receive(handle_, other, parts[other], answer);
        messages.send(handle_, other, parts[rank_], answer);
    }
    const int waited = messages.wait();
    require(answer, call, "MPI_Isend or MPI_Irecv");
    require(waited, call, "MPI_Waitall");
}

void MpiCommunicator::do_exchange(const Call& call, gsl::span<const std::byte> data,
                                  gsl::span<std::byte> received) {
    agree(call);
    Messages messages;
    int answer = MPI_SUCCESS;
    const std::size_t bytes = call.sizes[rank_];
    std::size_t offset = 0;
    for (std::size_t other = 0; other < size_; ++other) {
        const auto outgoing = data.subspan(offset, call.sizes[other]);
        const auto incoming = received.subspan(other * bytes, bytes);
        offset += call.sizes[other];
        if (other == rank_) {
            std::copy(outgoing.begin(), outgoing.end(), incoming.begin());
            continue;
        }
        messages.receive(handle_, other, incoming, answer);
        messages.send(handle_, other, outgoing, answer);
    }
    const int waited = messages.wait();
    require(answer, call, "MPI_Isend or MPI_Irecv");
    require(waited, call, "MPI_Waitall");
}

std::shared_ptr<zero::Communicator> MpiCommunicator::do_split(const Call& call, std::size_t colour) {
    agree(call);
    if (colour > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
        throw zero::CommunicationError(fmt::format("{}: the colour is {}; valid: 0 to {}", describe(call),
                                                   colour, std::numeric_limits<int>::max()));
    }
    MPI_Comm part = MPI_COMM_NULL;
    require(MPI_Comm_split(handle_, static_cast<int>(colour), static_cast<int>(rank_), &part), call,
            "MPI_Comm_split");
    return std::make_shared<MpiCommunicator>(part, fmt::format("{}/{}", name_, colour));
}

}  // namespace pinwarden::mpi
