// SPDX-License-Identifier: Apache-2.0
#include <command/train/text_corpus.hpp>

#include <pinwarden/core/error.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cmath>
#include <set>

using namespace pinwarden::command;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::WithinAbs;
using pinwarden::ConfigurationError;

TEST_CASE("The bytes of a text are numbered in the order of their values") {
    const TextCorpus text("banana", "here");
    CHECK(text.vocabulary() == 3);
    CHECK(text.characters() == std::vector<std::uint8_t>{1, 0, 2, 0, 2, 0});
    CHECK(text.byte_of(0) == 'a');
    CHECK(text.byte_of(2) == 'n');
}

TEST_CASE("Any bytes are a text: nulls, UTF-8, and all 256 of them") {
    std::string bytes;
    for (int byte = 255; byte >= 0; --byte) bytes.push_back(static_cast<char>(byte));
    const TextCorpus text(bytes, "here");
    CHECK(text.vocabulary() == 256);
    CHECK(text.characters().front() == 255);
    CHECK(text.characters().back() == 0);
    CHECK_THAT(text.unigram_entropy(), WithinAbs(std::log(256.0), 1e-12));
}

TEST_CASE("The unigram entropy is that of the characters' frequencies, in nats") {
    CHECK(TextCorpus("aaaa", "here").unigram_entropy() == 0.0);
    CHECK_THAT(TextCorpus("abab", "here").unigram_entropy(), WithinAbs(std::log(2.0), 1e-15));
    const double wanted = -(0.5 * std::log(0.5) + 0.25 * std::log(0.25) + 2 * 0.125 * std::log(0.125));
    CHECK_THAT(TextCorpus("aaaabbcd", "here").unigram_entropy(), WithinAbs(wanted, 1e-15));
}

TEST_CASE("A batch holds windows of the text with what follows them") {
    const std::string bytes = "abcdefghijklmnopqrstuvwxyz";
    const TextCorpus text(bytes, "here");
    RandomEngine random(1);
    const Batch batch = text.random_batch(500, 3, random);
    REQUIRE(batch.targets.size() == 500);
    REQUIRE(batch.contexts.size() == 1500);
    std::set<std::uint8_t> targets;
    for (std::size_t i = 0; i < batch.targets.size(); ++i) {
        const std::uint8_t target = batch.targets[i];
        targets.insert(target);
        for (std::size_t j = 0; j < 3; ++j)
            CHECK(batch.contexts[3 * i + j] == target - 3 + static_cast<int>(j));
    }
    CHECK(targets.size() == 23);  // every character that has three before it, the last one included
}

TEST_CASE("The seed decides the batches") {
    const TextCorpus text("the quick brown fox jumps over the lazy dog", "here");
    RandomEngine first(4);
    RandomEngine second(4);
    RandomEngine other(5);
    const Batch batch = text.random_batch(20, 2, first);
    CHECK(text.random_batch(20, 2, second).targets == batch.targets);
    CHECK(text.random_batch(20, 2, other).targets != batch.targets);
    CHECK(text.random_batch(20, 2, first).targets != batch.targets);
}

TEST_CASE("The shortest text has one window, and a shorter one is refused with the numbers") {
    CHECK(TextCorpus("abcd", "here").window_count(3) == 1);
    CHECK_THROWS_MATCHES(TextCorpus("abc", "here").window_count(3), ConfigurationError,
                         MessageMatches(ContainsSubstring("here is too short: it has 3 bytes") &&
                                        ContainsSubstring("at least 4") && ContainsSubstring("--context")));
    CHECK_THROWS_AS(TextCorpus("a", "here").window_count(SIZE_MAX), ConfigurationError);
}

TEST_CASE("An empty text is refused") {
    CHECK_THROWS_MATCHES(TextCorpus("", "here"), ConfigurationError,
                         MessageMatches(ContainsSubstring("here is empty")));
    CHECK_THROWS_AS(TextCorpus::read("/dev/null"), ConfigurationError);
}
