// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/audit/test_leaks.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <pinwarden/backend/scripted_backend.hpp>
#include <pinwarden/core/error.hpp>
#include <pinwarden/own/pinned_buffer.hpp>

#include <support/manual_token.hpp>
#include <support/release_failure_log.hpp>

namespace pinwarden::audit {

namespace {

using Buffer = PinnedBuffer<int>;
using Catch::Matchers::ContainsSubstring;

constexpr std::chrono::nanoseconds no_patience{0};

Buffer make(const std::string& label) {
    static const auto backend = std::make_shared<ScriptedBackend>();
    return Buffer(10, {.backend = backend, .label = label});
}

}  // namespace

TEST_CASE("A test answers for the pins that it left, each with label, size and source line", "[audit]") {
    TestLeakCheck check;
    const Buffer fixture = make("fixture");
    check.begin();
    const Buffer first = make("first");
    const Buffer second = make("");
    const TestLeaks found = check.end(no_patience);
    CHECK(found.allowed.empty());
    REQUIRE(found.leaks.size() == 2);
    const bool in_order = found.leaks[0].text.find("'first'") != std::string::npos;
    const TestLeak& leak = found.leaks[in_order ? 0 : 1];
    CHECK_THAT(leak.file, ContainsSubstring("test_leaks_test.cpp"));
    CHECK(leak.line != 0);
    CHECK_THAT(leak.text, ContainsSubstring(leak.file + ":" + std::to_string(leak.line)) &&
                              ContainsSubstring("live 'first' of 40 bytes"));
}

TEST_CASE("A pin that stays in flight is one that the test left, a quarantined one is not", "[audit]") {
    testing::ReleaseFailureLog log;
    const auto token = testing::ManualToken::make(1);
    const auto failing = std::make_shared<ScriptedBackend>();
    failing->answer_release(UnpinStatus::failed);
    TestLeakCheck check;
    check.begin();
    {
        const Buffer flying = make("flying");
        flying.record_use(token);
        const Buffer stuck(10, {.backend = failing});
    }
    const TestLeaks found = check.end(no_patience);
    token->complete();
    REQUIRE(found.leaks.size() == 1);
    CHECK_THAT(found.leaks[0].text, ContainsSubstring("in_flight 'flying'"));
}

TEST_CASE("A permission shows its reason, and holds for one test", "[audit]") {
    TestLeakCheck check;
    check.begin();
    allow_leaks("lives as long\nas the program");
    const Buffer cache = make("cache");
    const TestLeaks found = check.end(no_patience);
    CHECK(found.leaks.size() == 1);
    CHECK(found.allowed ==
          "the test left 1 pin of 40 bytes, which it may: lives as long\\nas the program");
    check.begin();
    const Buffer another = make("another");
    CHECK(check.end(no_patience).allowed.empty());
}

TEST_CASE("A permission that is not used says nothing, and none is without a reason", "[audit]") {
    TestLeakCheck check;
    check.begin();
    allow_leaks("never used");
    const TestLeaks found = check.end(no_patience);
    CHECK(found.leaks.empty());
    CHECK(found.allowed.empty());
    allow_leaks("given before the test");
    check.begin();
    const Buffer buffer = make("buffer");
    CHECK(check.end(no_patience).allowed.empty());
    CHECK_THROWS_AS(allow_leaks(""), ConfigurationError);
}

TEST_CASE("Between tests nobody is watched, and nothing is reported at the end", "[audit]") {
    testing::ReleaseFailureLog log;
    std::optional<Buffer> between;
    {
        TestLeakCheck check;
        CHECK(check.end(no_patience).leaks.empty());
        check.begin();
        CHECK(check.end(no_patience).leaks.empty());
        between.emplace(make("between"));
        CHECK(check.end(no_patience).leaks.empty());
    }
    CHECK(log.take().empty());
}

}  // namespace pinwarden::audit
