// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/superoffload/core_set.hpp>

#include <limits>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <pinwarden/core/error.hpp>

using namespace pinwarden;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using zero::CoreSet;
using zero::ScopedAffinity;

namespace {

CoreSet first_cores(std::size_t count) {
    std::vector<std::size_t> cores;
    for (std::size_t core = 0; core < count; ++core) cores.push_back(core);
    return CoreSet(cores);
}

}  // namespace

TEST_CASE("A set of cores is written as the kernel writes it") {
    CHECK(to_string(CoreSet()) == "none");
    CHECK(to_string(CoreSet({5})) == "5");
    CHECK(to_string(CoreSet({3, 1, 2, 0, 8, 3})) == "0-3,8");
    CHECK(to_string(CoreSet({64, 65, 1'000})) == "64-65,1000");
}

TEST_CASE("Cores are shared out by the fraction, and each side gets one where there are two") {
    struct Case {
        std::size_t cores;
        double fraction;
        std::size_t adam;
    };
    for (const auto& [cores, fraction, adam] : std::vector<Case>{{10, 0.8, 8},
                                                                 {10, 0.84, 8},
                                                                 {10, 0.85, 9},
                                                                 {2, 0.8, 1},
                                                                 {2, 0.01, 1},
                                                                 {2, 0.999, 1},
                                                                 {2, 1.0, 2},
                                                                 {1, 0.8, 1},
                                                                 {1, 1.0, 1},
                                                                 {64, 0.5, 32},
                                                                 {64, 1e-9, 1}}) {
        CAPTURE(cores, fraction);
        const auto split = zero::split_cores(first_cores(cores), fraction);
        REQUIRE(split.adam.size() == adam);
        REQUIRE(split.rest.size() == cores - adam);
        REQUIRE(split.adam.cores().back() == cores - 1);
        for (const auto core : split.rest.cores()) REQUIRE(core < split.adam.cores().front());
    }
}

TEST_CASE("A fraction that gives host Adam nothing, or more than there is, is refused") {
    for (const double fraction : {0.0, -0.5, 1.0001, std::numeric_limits<double>::quiet_NaN()})
        REQUIRE_THROWS_AS(zero::split_cores(first_cores(4), fraction), SizeError);
    REQUIRE_THROWS_AS(zero::split_cores(CoreSet(), 0.5), SizeError);
}

TEST_CASE("A thread has its cores back at the end of the scope") {
    const CoreSet before = CoreSet::of_this_thread();
    REQUIRE_FALSE(before.empty());
    const CoreSet last({before.cores().back()});
    {
        const ScopedAffinity affinity(last);
        REQUIRE(CoreSet::of_this_thread() == last);
        CoreSet inherited;
        std::thread([&] { inherited = CoreSet::of_this_thread(); }).join();
        REQUIRE(inherited == last);
    }
    REQUIRE(CoreSet::of_this_thread() == before);
}

TEST_CASE("No cores at all leave a thread where it is") {
    const CoreSet before = CoreSet::of_this_thread();
    const ScopedAffinity affinity{CoreSet()};
    REQUIRE(CoreSet::of_this_thread() == before);
}

TEST_CASE("Cores that the machine does not have are refused, and the thread stays where it is") {
    const CoreSet before = CoreSet::of_this_thread();
    REQUIRE_THROWS_MATCHES(ScopedAffinity(CoreSet({100'000})), zero::AffinityError,
                           MessageMatches(ContainsSubstring("sched_setaffinity(0, cores 100000): ")));
    REQUIRE(CoreSet::of_this_thread() == before);
}
