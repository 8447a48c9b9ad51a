// SPDX-License-Identifier: Apache-2.0
#include <report/symboliser.hpp>

#include <cstdint>
#include <exception>
#include <string>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace pinwarden::audit {

namespace {

using Catch::Matchers::ContainsSubstring;

// Where a call that has got one byte into the function would return to.
const void* into(const void* function) { return static_cast<const char*>(function) + 2; }

[[gnu::noinline]] int some_function(int value) { return value + 1; }

}  // namespace

TEST_CASE("A stack without calls has no frames, and an address of nobody is only an address", "[report]") {
    Symboliser symboliser;
    CHECK(symboliser.frames({}).empty());
    for (const std::uintptr_t nowhere : {std::uintptr_t{1}, std::uintptr_t{0xF000}}) {
        const auto frames = symboliser.frames({reinterpret_cast<const void*>(nowhere)});
        REQUIRE(frames.size() == 1);
        CHECK(frames[0].address == (nowhere == 1 ? "0x1" : "0xf000"));
        CHECK(frames[0].module.empty());
        CHECK(frames[0].function.empty());
        CHECK(frames[0].line == 0);
    }
}

TEST_CASE("An address in this program names the program, and the function where that can be found out", "[report]") {
    CHECK(some_function(1) == 2);
    Symboliser symboliser;
    const auto frames = symboliser.frames({into(reinterpret_cast<const void*>(&some_function))});
    REQUIRE_FALSE(frames.empty());
    CHECK_THAT(frames.back().module, ContainsSubstring("unit_audit"));
#if defined(PINWARDEN_TEST_LIBDW)
    CHECK_THAT(frames.back().function, ContainsSubstring("some_function(int)"));
    CHECK_THAT(frames.back().file, ContainsSubstring("symboliser_test.cpp"));
    CHECK(frames.back().line != 0);
#endif
}

TEST_CASE("A function that a shared library exports is named without debugging information", "[report]") {
    Symboliser symboliser;
    const auto frames = symboliser.frames({into(reinterpret_cast<const void*>(&std::terminate))});
    REQUIRE_FALSE(frames.empty());
    CHECK_THAT(frames.back().function, ContainsSubstring("terminate"));
    CHECK_THAT(frames.back().module, ContainsSubstring("libstdc++"));
}

}  // namespace pinwarden::audit
