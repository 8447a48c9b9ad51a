// SPDX-License-Identifier: Apache-2.0
#include <command/train/summary.hpp>

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include <limits>

using namespace pinwarden::command;

TEST_CASE("A summary has exactly the fields that are promised, in the kernel's unit") {
    const Summary summary{.steps = 300,
                          .loss_first = 4.5,
                          .loss_last = 1.25,
                          .unigram_entropy = 3.125,
                          .peak_pinned_bytes = 1'650'688,
                          .vmlck_bytes = {.before = 4096, .peak = 1'654'784, .after = 4096},
                          .live_pins = 2,
                          .backend = "native"};
    const auto wanted = nlohmann::json::parse(R"({
        "steps": 300, "loss_first": 4.5, "loss_last": 1.25, "unigram_entropy": 3.125,
        "peak_pinned_bytes": 1650688, "vmlck_kib": {"before": 4, "peak": 1616, "after": 4},
        "live_pins": 2, "backend": "native"})");
    CHECK(nlohmann::json::parse(to_json(summary)) == wanted);
    CHECK(to_json(summary).back() == '\n');
}

TEST_CASE("A loss that is not finite is null, and the summary stays JSON") {
    const auto json = nlohmann::json::parse(to_json({.loss_first = std::numeric_limits<double>::infinity(),
                                                     .loss_last = std::numeric_limits<double>::quiet_NaN()}));
    CHECK(json.at("loss_first").is_null());
    CHECK(json.at("loss_last").is_null());
}
