// SPDX-License-Identifier: Apache-2.0

// What read_config_text() says about text that is not acceptable as JSON.

#include <pinwarden/zero/config.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <string>
#include <string_view>

namespace zero = pinwarden::zero;

namespace {

/// The error's text, or a note that there was none.
std::string refusal(std::string_view json) {
    try {
        const auto config = zero::read_config_text(json, "ds.json");
        return "accepted, with train_batch_size " + std::to_string(config.train_batch_size);
    } catch (const pinwarden::ConfigurationError& error) {
        return error.what();
    }
}

}  // namespace

TEST_CASE("text that is not JSON is refused with its line and column", "[zero]") {
    struct Text {
        std::string_view json;
        std::string_view expected;
    };
    const Text texts[] = {
        {"{\n  \"train_batch_size\": 8,\n}", "ds.json: line 3, column 1: not valid JSON"},
        {"{\"train_batch_size\": 8", "ds.json: line 1, column 23: not valid JSON"},
        {"{\n\n   \"lr\": NaN}", "ds.json: line 3, column 10: not valid JSON"},
        {"{\"lr\": Infinity}", "ds.json: line 1, column 8: not valid JSON"},
        {"{\"lr\": 1e999}", "ds.json: line 1, column 12: not valid JSON: number overflow"},
        {"{'lr': 1}", "ds.json: line 1, column 2: not valid JSON"},
        {"{\"lr\": 1} {}", "ds.json: line 1, column 11: not valid JSON"},
        {"// a comment\n{}", "ds.json: line 1, column 1: not valid JSON"},
        {"{\"lr\" 1}", "ds.json: line 1, column 7: not valid JSON"},
        {"{\"lr\": 01}", "ds.json: line 1, column 9: not valid JSON"},
        {"nonsense", "ds.json: line 1, column 2: not valid JSON"},
        {"{\"lr\": \"\xFF\"}", "ds.json: line 1, column 9: not valid JSON"},
        {"{\"lr\": \"a\nb\"}", "ds.json: line 1, column 10: not valid JSON"},
    };
    for (const auto& text : texts) {
        const std::string message = refusal(text.json);
        INFO(text.json);
        INFO(message);
        CHECK(message.starts_with(text.expected));
        CHECK(std::all_of(message.begin(), message.end(), [](char letter) { return letter >= 0x20; }));
    }
}

TEST_CASE("a name given twice is refused with its path, at any depth", "[zero]") {
    CHECK(refusal(R"({"train_batch_size": 8, "train_batch_size": 8})") ==
          "ds.json: train_batch_size: this field is given twice; keep one of the two");
    CHECK(refusal(R"({"zero_optimization": {"offload_optimizer": {"device": "cpu", "device": "none"}}})") ==
          "ds.json: zero_optimization.offload_optimizer.device: this field is given twice; keep one of the "
          "two");
}

TEST_CASE("text that is nested without end is refused before it can exhaust the stack", "[zero]") {
    const std::string deep(1'000'000, '[');
    CHECK(refusal(deep).starts_with("ds.json: values are nested more than 32 levels deep"));
}
