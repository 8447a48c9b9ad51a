// SPDX-License-Identifier: Apache-2.0

// A stranger's tests with Catch2. One leaves a pin, and is meant to fail for it and for nothing else.
#include <optional>

#include <catch2/catch_test_macros.hpp>

#include <pinwarden/listeners/catch2.hpp>
#include <pinwarden/pinwarden.hpp>

static const pinwarden::listeners::Catch2 tests_leave_no_pins;

TEST_CASE("tidy") {
    const pinwarden::PinnedBuffer<int> buffer(8, {.backend = pinwarden::native_backend()});
    CHECK(buffer.size() == 8);
}

TEST_CASE("untidy", "[!shouldfail]") {
    static std::optional<pinwarden::PinnedBuffer<int>> kept;
    kept = pinwarden::PinnedBuffer<int>(8, {.backend = pinwarden::native_backend(), .label = "kept"});
    CHECK(kept->size() == 8);
}
