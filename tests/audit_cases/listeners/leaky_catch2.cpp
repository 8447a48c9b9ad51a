// SPDX-License-Identifier: Apache-2.0

// A test program whose tests leave pins in every way that Catch2 has for running them. Tags say what is expected of the
// check: [clean] leaves nothing, [leaky] does.
#include <pinwarden/listeners/catch2.hpp>

#include <pinwarden/audit/test_leaks.hpp>

#include <stdexcept>
#include <thread>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <audit_cases/listeners/leaky_pins.hpp>

namespace pinwarden::testing {

namespace {

const listeners::Catch2 tests_leave_no_pins(std::chrono::milliseconds(50));

// Made before any test: nobody's leak.
const Buffer static_pool = make_buffer("static pool");

struct Fixture {
    Buffer own = make_buffer("fixture");
};

struct ForgetfulFixture {
    ForgetfulFixture() { leave("forgotten by the fixture"); }
};

}  // namespace

TEST_CASE("clean", "[clean]") {
    const Buffer buffer = make_buffer("local");
    CHECK(buffer.size() == 256);
}

TEST_CASE_METHOD(Fixture, "clean fixture", "[clean]") { CHECK(own.size() == 256); }

TEST_CASE_PERSISTENT_FIXTURE(Fixture, "clean persistent fixture", "[clean]") {
    SECTION("one") { CHECK(own.size() == 256); }
    SECTION("two") { CHECK(own.size() == 256); }
}

TEST_CASE("clean although it fails", "[fails]") {
    const Buffer buffer = make_buffer("local");
    REQUIRE(buffer.size() == 1);
}

TEST_CASE("clean although it throws", "[fails]") {
    const Buffer buffer = make_buffer("local");
    throw std::runtime_error("thrown on purpose");
}

TEST_CASE("clean release of what an earlier test left", "[clean]") {
    attic().clear();
    CHECK(attic().empty());
}

TEST_CASE("leaky", "[leaky][plain]") { leave("weights"); }

TEST_CASE("leaky twice", "[leaky][twice]") {
    leave("first");
    leave("second");
}

TEST_CASE("leaky in one section", "[leaky][sections]") {
    SECTION("tidy") { const Buffer buffer = make_buffer("tidy"); }
    SECTION("outer") {
        SECTION("untidy") { leave("left in a section"); }
        SECTION("tidy again") {}
    }
}

TEST_CASE("leaky for one generated value", "[leaky][generators]") {
    const int value = GENERATE(1, 2, 3);
    if (value == 2) leave("left for two");
}

TEMPLATE_TEST_CASE("leaky for one type", "[leaky][types]", char, int) {
    if (sizeof(TestType) == sizeof(int)) leave("left for int");
}

TEST_CASE_METHOD(ForgetfulFixture, "leaky fixture", "[leaky][fixture]") {}

TEST_CASE("leaky and fails", "[leaky][failing]") {
    leave("left by a failure");
    REQUIRE(false);
}

TEST_CASE("leaky and throws", "[leaky][throwing]") {
    leave("left by an exception");
    throw std::runtime_error("thrown on purpose");
}

TEST_CASE("leaky in a thread", "[leaky][threads]") {
    std::thread([] { leave("left by a thread"); }).join();
}

TEST_CASE("leaky by design", "[allowed]") {
    audit::allow_leaks("the cache lives as long as the program");
    leave("cache");
}

TEST_CASE("leaky at an address that was pinned before", "[leaky][address]") {
    attic().clear();
    leave("again");
}

}  // namespace pinwarden::testing
