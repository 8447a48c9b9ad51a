// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/core/error.hpp>

#include <pinwarden/core/process_memory.hpp>

#include <cerrno>
#include <type_traits>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace pinwarden {

namespace {

using Catch::Matchers::ContainsSubstring;

PinRefusal some_refusal() {
    return {.backend = "native",
            .call = "mlock(0x7f0000000000, 12288)",
            .answer = "ENOMEM (Cannot allocate memory)",
            .code = ENOMEM,
            .bytes_asked = 10000,
            .bytes_locked = 65536,
            .lock_limit = 8388608,
            .bytes_available = 1073741824,
            .advice = "raise the limit"};
}

}  // namespace

TEST_CASE("The text of a refused pin holds every fact of it", "[core]") {
    const std::string text = PinError(some_refusal()).what();
    CHECK_THAT(text, ContainsSubstring("native backend"));
    CHECK_THAT(text, ContainsSubstring("10000 bytes"));
    CHECK_THAT(text, ContainsSubstring("mlock(0x7f0000000000, 12288)"));
    CHECK_THAT(text, ContainsSubstring("ENOMEM (Cannot allocate memory)"));
    CHECK_THAT(text, ContainsSubstring("has locked 65536 bytes (64.0 KiB)"));
    CHECK_THAT(text, ContainsSubstring("RLIMIT_MEMLOCK is 8388608 bytes (8.0 MiB)"));
    CHECK_THAT(text, ContainsSubstring("available memory is 1073741824 bytes (1.0 GiB)"));
    CHECK_THAT(text, ContainsSubstring("raise the limit"));
}

TEST_CASE("A limit that is none is called unlimited and not by its number", "[core]") {
    PinRefusal refusal = some_refusal();
    refusal.lock_limit = unlimited_bytes;
    refusal.bytes_available = unlimited_bytes;
    const std::string text = PinError(refusal).what();
    CHECK_THAT(text, ContainsSubstring("RLIMIT_MEMLOCK is unlimited"));
    CHECK_THAT(text, ContainsSubstring("available memory is unlimited"));
}

TEST_CASE("A refused pin carries its facts as data", "[core]") {
    const PinError error(some_refusal());
    CHECK(error.refusal().backend == "native");
    CHECK(error.refusal().code == ENOMEM);
    CHECK(error.refusal().bytes_asked == 10000);
    CHECK(error.refusal().bytes_locked == 65536);
    CHECK(error.refusal().lock_limit == 8388608);
    CHECK(error.refusal().bytes_available == 1073741824);
}

TEST_CASE("Every exception of the library can be caught as one type", "[core]") {
    STATIC_REQUIRE(std::is_base_of_v<Error, SizeError>);
    STATIC_REQUIRE(std::is_base_of_v<Error, OverlapError>);
    STATIC_REQUIRE(std::is_base_of_v<Error, ConfigurationError>);
    STATIC_REQUIRE(std::is_base_of_v<Error, UnavailableError>);
    STATIC_REQUIRE(std::is_base_of_v<Error, PinError>);
    STATIC_REQUIRE(std::is_base_of_v<std::runtime_error, Error>);
    CHECK_THROWS_AS(throw PinError(some_refusal()), Error);
}

}  // namespace pinwarden
