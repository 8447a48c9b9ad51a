// SPDX-License-Identifier: Apache-2.0

// The contract of communicators over the ranks that mpirun started, and what calls that differ lead to.

#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include <pinwarden/mpi/session.hpp>

#include <support/communicator_contract.hpp>

namespace {

void check_different_calls(pinwarden::zero::Communicator& ranks) {
    if (ranks.size() == 1) return;
    std::vector<std::byte> data(ranks.rank() == 1 ? 12 : 8);
    try {
        ranks.broadcast(data, 0);
    } catch (const pinwarden::zero::CommunicationError& error) {
        const std::string text = error.what();
        if (text.find("rank 0 broadcast of [8] bytes") != std::string::npos &&
            text.find("rank 1 broadcast of [12] bytes") != std::string::npos) {
            return;
        }
        throw std::logic_error("another text for calls that differ: " + text);
    }
    throw std::logic_error("calls that differ are not told");
}

// Several messages for one part, which must arrive in their order.
void check_large_parts(pinwarden::zero::Communicator& ranks) {
    constexpr std::size_t bytes = 3'000'001;
    std::vector<std::byte> all(bytes * ranks.size());
    for (std::size_t i = 0; i < bytes; ++i)
        all[ranks.rank() * bytes + i] = static_cast<std::byte>(i * 7 + ranks.rank());
    ranks.all_gather(all, std::vector<std::size_t>(ranks.size(), bytes));
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i] != static_cast<std::byte>(i % bytes * 7 + i / bytes))
            throw std::logic_error("large parts differ");
    }
}

}  // namespace

int main(int count, char** arguments) {
    try {
        pinwarden::mpi::Session session;
        const auto& ranks = session.world();
        if (count != 2 || std::to_string(ranks->size()) != arguments[1]) {
            throw std::logic_error("mpirun started another number of ranks than was asked for");
        }
        if (pinwarden::mpi::is_launched() != (ranks->size() > 1))
            throw std::logic_error("is_launched() is wrong");
        pinwarden::testing::check_contract(*ranks);
        check_large_parts(*ranks);
        check_different_calls(*ranks);
        try {
            const pinwarden::mpi::Session second;
            throw std::logic_error("a second session was made");
        } catch (const pinwarden::zero::CommunicationError&) {
        }
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
