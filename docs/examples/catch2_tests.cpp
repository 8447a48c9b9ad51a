// SPDX-License-Identifier: Apache-2.0

// Tests with Catch2 that fail if they leave a pin behind.

#include <optional>

#include <catch2/catch_test_macros.hpp>

#include <pinwarden/listeners/catch2.hpp>
#include <pinwarden/pinwarden.hpp>

static const pinwarden::listeners::Catch2 tests_leave_no_pins;

namespace {

std::optional<pinwarden::PinnedBuffer<float>> cache;

}  // namespace

TEST_CASE("A buffer that is destroyed leaves nothing") {
    const pinwarden::PinnedBuffer<float> buffer(1024, {.label = "weights"});
    CHECK(buffer.size() == 1024);
}

TEST_CASE("A cache that is meant to stay says why") {
    pinwarden::audit::allow_leaks("the cache lives as long as the program");
    cache = pinwarden::PinnedBuffer<float>(1024, {.label = "cache"});
    CHECK(cache->is_pinned());
}
