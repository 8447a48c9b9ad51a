// SPDX-License-Identifier: Apache-2.0
#include <superoffload/bounded_queue.hpp>

#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using pinwarden::zero::BoundedQueue;
using pinwarden::zero::Push;
using namespace std::chrono_literals;

TEST_CASE("A bounded queue gives back what it was given, in that order") {
    BoundedQueue<int> queue(3);
    for (int value : {1, 2, 3}) REQUIRE(queue.push(value, 0ns) == Push::done);
    for (const int value : {1, 2, 3}) REQUIRE(queue.pop() == value);
}

TEST_CASE("A full queue refuses a value after the time given, and the value is unchanged") {
    BoundedQueue<std::unique_ptr<int>> queue(1);
    auto first = std::make_unique<int>(1);
    auto second = std::make_unique<int>(2);
    REQUIRE(queue.push(first, 0ns) == Push::done);
    const auto start = std::chrono::steady_clock::now();
    REQUIRE(queue.push(second, 30ms) == Push::full);
    REQUIRE(std::chrono::steady_clock::now() - start >= 30ms);
    REQUIRE(second != nullptr);
    REQUIRE(queue.size() == 1);
}

TEST_CASE("Who waits for room gets it when a value is taken") {
    BoundedQueue<int> queue(1);
    int first = 1;
    REQUIRE(queue.push(first, 0ns) == Push::done);
    Push second_answer = Push::closed;
    std::thread producer([&] {
        int second = 2;
        second_answer = queue.push(second, 1min);
    });
    std::this_thread::sleep_for(5ms);
    REQUIRE(queue.pop() == 1);
    producer.join();
    REQUIRE(second_answer == Push::done);
    REQUIRE(queue.pop() == 2);
}

TEST_CASE("Closing a queue wakes who waits for room and who waits for values") {
    BoundedQueue<int> full(1);
    BoundedQueue<int> empty(1);
    int value = 1;
    REQUIRE(full.push(value, 0ns) == Push::done);
    Push answer = Push::done;
    bool found = true;
    std::thread producer([&] {
        int second = 2;
        answer = full.push(second, 1min);
    });
    std::thread consumer([&] { found = empty.pop().has_value(); });
    std::this_thread::sleep_for(5ms);
    full.close();
    empty.close();
    producer.join();
    consumer.join();
    REQUIRE(answer == Push::closed);
    REQUIRE_FALSE(found);
    REQUIRE(full.pop() == 1);
    REQUIRE_FALSE(full.pop().has_value());
}

TEST_CASE("Clearing a queue makes room") {
    BoundedQueue<int> queue(2);
    for (int value : {1, 2}) REQUIRE(queue.push(value, 0ns) == Push::done);
    queue.clear();
    REQUIRE(queue.size() == 0);
    int value = 3;
    REQUIRE(queue.push(value, 0ns) == Push::done);
    REQUIRE(queue.pop() == 3);
}

TEST_CASE("Every value reaches exactly one of several consumers") {
    BoundedQueue<int> queue(4);
    constexpr int count = 2'000;
    std::vector<std::vector<int>> taken(3);
    std::vector<std::thread> consumers;
    for (auto& mine : taken) {
        consumers.emplace_back([&] {
            while (const auto value = queue.pop()) mine.push_back(*value);
        });
    }
    for (int i = 0; i < count; ++i) {
        int value = i;
        REQUIRE(queue.push(value, 1min) == Push::done);
    }
    queue.close();
    for (auto& consumer : consumers) consumer.join();
    std::vector<bool> seen(count);
    for (const auto& mine : taken) {
        for (const int value : mine) {
            REQUIRE_FALSE(seen[static_cast<std::size_t>(value)]);
            seen[static_cast<std::size_t>(value)] = true;
        }
    }
    REQUIRE(taken[0].size() + taken[1].size() + taken[2].size() == count);
}
