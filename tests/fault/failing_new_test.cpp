// SPDX-License-Identifier: Apache-2.0
#include <support/failing_new.hpp>

#include <cstddef>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>

namespace pinwarden::testing {

namespace {

struct alignas(256) Wide {
    char bytes[256];
};

}  // namespace

TEST_CASE("Each allocation of an operation fails once, in turn", "[fault]") {
    std::size_t reached = 0;
    std::unique_ptr<int> first;  // outside, because a compiler may leave out an allocation that nobody sees
    std::unique_ptr<Wide> second;
    std::unique_ptr<char[]> third;
    std::vector<std::size_t> reached_by_attempt;
    const std::size_t failures = for_each_failing_new(
        [&] {
            reached = 0;
            first = std::make_unique<int>(1);
            ++reached;
            second = std::make_unique<Wide>();
            ++reached;
            third.reset(new char[100]);
            ++reached;
        },
        [&] { reached_by_attempt.push_back(reached); });
    CHECK(failures == 3);
    CHECK(reached_by_attempt == std::vector<std::size_t>{0, 1, 2});
    CHECK(reached == 3);
}

TEST_CASE("An allocation that may be refused is, and its operation is tried again", "[fault]") {
    std::size_t refused = 0;
    std::size_t threw = 0;
    // Outside, because a compiler may leave out an allocation that nobody sees.
    std::unique_ptr<int> optional;
    std::unique_ptr<int> needed;
    const std::size_t failures = for_each_failing_new(
        [&] {
            optional.reset(new (std::nothrow) int(1));
            if (!optional) ++refused;
            needed = std::make_unique<int>(2);
        },
        [&] { ++threw; });
    CHECK(failures == 2);
    CHECK(refused == 1);
    CHECK(threw == 1);
}

TEST_CASE("Only the thread that asked for it runs out of memory", "[fault]") {
    bool other_failed = false;
    {
        const FailingNew failing(2);  // the first makes the thread
        std::thread other([&other_failed] {
            try {
                for (int i = 0; i < 10; ++i) std::make_unique<std::string>(100, 'x').reset();
            } catch (const std::bad_alloc&) {
                other_failed = true;
            }
        });
        other.join();
        CHECK_FALSE(failing.failed());
    }
    CHECK_FALSE(other_failed);
}

TEST_CASE("Allocations are counted, and all is well after the order has ended", "[fault]") {
    const std::size_t before = allocations_of_this_thread();
    auto number = std::make_unique<int>(1);
    CHECK(allocations_of_this_thread() == before + 1);
    { const FailingNew failing(1); }
    CHECK_NOTHROW(number = std::make_unique<int>(2));
}

}  // namespace pinwarden::testing
