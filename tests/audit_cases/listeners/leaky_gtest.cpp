// SPDX-License-Identifier: Apache-2.0

// A test program whose tests leave pins in every way that GoogleTest has for running them.
#include <pinwarden/listeners/gtest.hpp>

#include <pinwarden/audit/test_leaks.hpp>

#include <optional>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

#include <audit_cases/listeners/leaky_pins.hpp>

namespace pinwarden::testing {

namespace {

const listeners::GoogleTest tests_leave_no_pins(std::chrono::milliseconds(50));

// Made before any test: nobody's leak.
const Buffer static_pool = make_buffer("static pool");

class Clean : public ::testing::Test {
protected:
    static void SetUpTestSuite() { shared().emplace(make_buffer("of the suite")); }
    static void TearDownTestSuite() { shared().reset(); }
    static std::optional<Buffer>& shared() {
        static std::optional<Buffer> buffer;
        return buffer;
    }
    Buffer own = make_buffer("fixture");
};

TEST_F(Clean, FixtureAndLocal) {
    const Buffer buffer = make_buffer("local");
    EXPECT_EQ(buffer.size(), own.size());
}

TEST_F(Clean, Skipped) { GTEST_SKIP() << "on purpose"; }

TEST(Fails, ByAssertion) {
    const Buffer buffer = make_buffer("local");
    ASSERT_EQ(buffer.size(), 1U);
}

TEST(Fails, ByException) {
    const Buffer buffer = make_buffer("local");
    throw std::runtime_error("thrown on purpose");
}

TEST(Leaky, Plain) { leave("weights"); }

TEST(Leaky, Twice) {
    leave("first");
    leave("second");
}

TEST(Leaky, InAThread) {
    std::thread([] { leave("left by a thread"); }).join();
}

TEST(Leaky, AndFails) {
    leave("left by a failure");
    FAIL() << "on purpose";
}

TEST(Leaky, AndThrows) {
    leave("left by an exception");
    throw std::runtime_error("thrown on purpose");
}

class Forgetful : public ::testing::Test {
protected:
    Forgetful() { leave("forgotten by the fixture"); }
};

TEST_F(Forgetful, Fixture) {}

template <typename T>
class Typed : public ::testing::Test {};
using Types = ::testing::Types<char, int>;
TYPED_TEST_SUITE(Typed, Types);

TYPED_TEST(Typed, LeakyForInt) {
    if (sizeof(TypeParam) == sizeof(int)) leave("left for int");
}

class Parameterised : public ::testing::TestWithParam<int> {};

TEST_P(Parameterised, LeakyForTwo) {
    if (GetParam() == 2) leave("left for two");
}
INSTANTIATE_TEST_SUITE_P(Values, Parameterised, ::testing::Values(1, 2, 3));

TEST(Allowed, ByDesign) {
    audit::allow_leaks("the cache lives as long as the program");
    leave("cache");
}

}  // namespace

}  // namespace pinwarden::testing
