// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/zero/thread_ranks.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <support/communicator_contract.hpp>

using namespace pinwarden;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

TEST_CASE("Ranks on threads keep the contract of communicators") {
    for (const std::size_t size : {1U, 2U, 3U, 4U}) {
        zero::run_ranks(size, [](const zero::CommunicatorPtr& ranks) { testing::check_contract(*ranks); });
    }
}

TEST_CASE("Each rank runs once, on a thread of its own") {
    std::array<std::atomic<int>, 4> runs{};
    const auto here = std::this_thread::get_id();
    std::atomic<bool> elsewhere{true};
    zero::run_ranks(4, [&](const zero::CommunicatorPtr& ranks) {
        ++runs.at(ranks->rank());
        if (std::this_thread::get_id() == here) elsewhere = false;
    });
    for (const auto& count : runs) REQUIRE(count == 1);
    REQUIRE(elsewhere);
}

TEST_CASE("An error on one rank ends the waiting of all, and is the one that is reported") {
    REQUIRE_THROWS_MATCHES(zero::run_ranks(4,
                                           [](const zero::CommunicatorPtr& ranks) {
                                               ranks->barrier();
                                               if (ranks->rank() == 2)
                                                   throw std::runtime_error("the disk is full");
                                               ranks->barrier();
                                           }),
                           std::runtime_error, MessageMatches(ContainsSubstring("the disk is full")));
}

TEST_CASE("A rank that has left is named to those that wait for it") {
    auto ranks = zero::make_thread_ranks(2, "pair");
    ranks[1].reset();
    REQUIRE_THROWS_MATCHES(
        ranks[0]->barrier(), zero::CommunicationError,
        MessageMatches(ContainsSubstring("barrier") && ContainsSubstring("rank 0 of 2 of group 'pair'") &&
                       ContainsSubstring("rank 1 has left the group")));
}

TEST_CASE("A rank may leave once its part of the last call is done") {
    for (int round = 0; round < 200; ++round) {
        zero::run_ranks(3, [](const zero::CommunicatorPtr& ranks) { ranks->barrier(); });
    }
}

TEST_CASE("Ranks whose calls differ are told how, and the group is of no use afterwards") {
    std::array<std::string, 2> texts;
    std::atomic<int> refused{0};
    zero::run_ranks(2, [&](const zero::CommunicatorPtr& ranks) {
        std::vector<std::byte> data(ranks->rank() == 0 ? 8 : 12);
        try {
            ranks->broadcast(data, 0);
        } catch (const zero::CommunicationError& error) {
            texts.at(ranks->rank()) = error.what();
        }
        try {
            ranks->barrier();
        } catch (const zero::CommunicationError&) {
            ++refused;
        }
    });
    REQUIRE(refused == 2);
    for (const auto& text : texts) {
        REQUIRE_THAT(text, ContainsSubstring("rank 0 broadcast of [8] bytes") &&
                               ContainsSubstring("rank 1 broadcast of [12] bytes"));
    }
    REQUIRE_THROWS_AS(zero::run_ranks(2,
                                      [](const zero::CommunicatorPtr& ranks) {
                                          if (ranks->rank() == 0) {
                                              ranks->barrier();
                                          } else {
                                              static_cast<void>(ranks->split(0));
                                          }
                                      }),
                      zero::CommunicationError);
}

TEST_CASE("A group without ranks is refused") {
    REQUIRE_THROWS_AS(zero::make_thread_ranks(0), zero::CommunicationError);
    REQUIRE_THROWS_AS(zero::run_ranks(0, [](const zero::CommunicatorPtr&) {}), zero::CommunicationError);
}
